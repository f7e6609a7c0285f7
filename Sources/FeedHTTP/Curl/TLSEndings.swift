internal import CCurl
internal import COpenSSL

/// Distinguishes properly closed TLS connections from those that were cut off, and refuses certificates that
/// contain no names.
///
/// libcurl (7.88) accepts a connection that ends without `close_notify` (RFC 8446, section 6.1), which an attacker on
/// the network can cause. It also accepts the common name of a certificate without other names, which no browser does
/// (RFC 9525, section 6.3). If libcurl doesn't use OpenSSL, this class does nothing, because GnuTLS checks both itself.
final class TLSEndings {
  /// The transfers whose body ends with their connection, by connection.
  private var waiting: [UnsafeMutableRawPointer: CurlTransfer] = [:]

  /// Observes the connections that `easy` makes. This object must outlive them.
  func watch(_ easy: UnsafeMutableRawPointer) {
    guard TLSLibrary.isOpenSSL else { return }
    ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque())
    ccurl_set_ssl_context(easy) { _, context, this in
      TLSLibrary.prepare(OpaquePointer(context!), this!)
      return CURLE_OK
    }
  }

  /// Registers `transfer` to be notified when its connection ends. Call this during a call to libcurl, while the
  /// transfer has a connection.
  ///
  /// - Returns: the connection; `nil` if the end can't be observed.
  func expect(_ transfer: CurlTransfer) -> UnsafeMutableRawPointer? {
    guard TLSLibrary.isOpenSSL else { return nil }
    var session: UnsafeMutableRawPointer?
    ccurl_get_pointer(transfer.easy, CURLINFO_TLS_SSL_PTR, &session)
    guard let session = session?.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee,
      session.backend == CURLSSLBACKEND_OPENSSL, let connection = session.internals
    else { return nil }
    waiting[connection] = transfer
    return connection
  }

  func forget(_ connection: UnsafeMutableRawPointer) { waiting[connection] = nil }

  fileprivate func ended(_ connection: UnsafeMutableRawPointer) { waiting[connection]?.connectionEnded() }
}

/// OpenSSL, if libcurl uses it.
private enum TLSLibrary {
  // OpenSSL is linked for other parts of the program even if libcurl doesn't use it.
  static let isOpenSSL =
    curl_version_info(ccurl_version_now()).pointee.ssl_version.map { String(cString: $0).contains("OpenSSL") } ?? false

  /// Sets up the context of one connection, before its handshake.
  static func prepare(_ context: OpaquePointer, _ endings: UnsafeMutableRawPointer) {
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MSG_CALLBACK_ARG, 0, endings)
    SSL_CTX_set_msg_callback(context) { isSent, _, type, bytes, count, connection, endings in
      guard isSent == 0, type == SSL3_RT_ALERT, count == 2,
        bytes?.load(fromByteOffset: 1, as: UInt8.self) == UInt8(SSL_AD_CLOSE_NOTIFY)
      else { return }
      Unmanaged<TLSEndings>.fromOpaque(endings!).takeUnretainedValue().ended(UnsafeMutableRawPointer(connection!))
    }
    // libcurl sets the same mode, without a callback.
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER) { isValid, store in
      guard isValid == 1, let store, X509_STORE_CTX_get_error_depth(store) == 0 else { return isValid }
      if let certificate = X509_STORE_CTX_get_current_cert(store), TLSLibrary.hasNames(certificate) { return 1 }
      X509_STORE_CTX_set_error(store, X509_V_ERR_HOSTNAME_MISMATCH)
      return 0
    }
  }

  /// True if a certificate has host names or IP addresses as alternative names.
  private static func hasNames(_ certificate: OpaquePointer) -> Bool {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) {
      copenssl_names(certificate, $0.baseAddress, $0.count) > 0
    }
  }
}
