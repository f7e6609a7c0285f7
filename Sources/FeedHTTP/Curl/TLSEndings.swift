internal import CCurl

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
    guard TLSLibrary.shared != nil else { return }
    ccurl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, Unmanaged.passUnretained(self).toOpaque())
    ccurl_set_ssl_context(easy) { _, context, this in
      TLSLibrary.shared?.prepare(context!, this!)
      return CURLE_OK
    }
  }

  /// Registers `transfer` to be notified when its connection ends. Call this during a call to libcurl, while the
  /// transfer has a connection.
  ///
  /// - Returns: the connection; `nil` if the end can't be observed.
  func expect(_ transfer: CurlTransfer) -> UnsafeMutableRawPointer? {
    guard TLSLibrary.shared != nil else { return nil }
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

/// The functions of OpenSSL.
// @unchecked: function pointers that never change.
private struct TLSLibrary: @unchecked Sendable {
  private let setMessage: ccurl_tls_set_message
  private let control: ccurl_tls_control
  private let setVerify: ccurl_tls_set_verify
  private let depth: ccurl_tls_depth
  private let certificate: ccurl_tls_certificate
  private let setError: ccurl_tls_set_error
  private let `extension`: ccurl_tls_extension
  private let count: ccurl_tls_count
  private let value: ccurl_tls_value
  private let name: ccurl_tls_name
  private let freeNames: ccurl_tls_free_names

  static let shared = TLSLibrary()

  private init?() {
    // OpenSSL may be loaded for another part of the program although libcurl doesn't use it.
    guard let version = curl_version_info(ccurl_version_now()).pointee.ssl_version,
      String(cString: version).contains("OpenSSL"),
      let setMessage = LoadedLibraries.function("SSL_CTX_set_msg_callback", ccurl_tls_set_message.self),
      let control = LoadedLibraries.function("SSL_CTX_ctrl", ccurl_tls_control.self),
      let setVerify = LoadedLibraries.function("SSL_CTX_set_verify", ccurl_tls_set_verify.self),
      let depth = LoadedLibraries.function("X509_STORE_CTX_get_error_depth", ccurl_tls_depth.self),
      let certificate = LoadedLibraries.function("X509_STORE_CTX_get_current_cert", ccurl_tls_certificate.self),
      let setError = LoadedLibraries.function("X509_STORE_CTX_set_error", ccurl_tls_set_error.self),
      let `extension` = LoadedLibraries.function("X509_get_ext_d2i", ccurl_tls_extension.self),
      let count = LoadedLibraries.function("OPENSSL_sk_num", ccurl_tls_count.self),
      let value = LoadedLibraries.function("OPENSSL_sk_value", ccurl_tls_value.self),
      let name = LoadedLibraries.function("GENERAL_NAME_get0_value", ccurl_tls_name.self),
      let freeNames = LoadedLibraries.function("GENERAL_NAMES_free", ccurl_tls_free_names.self)
    else { return nil }
    self.setMessage = setMessage
    self.control = control
    self.setVerify = setVerify
    self.depth = depth
    self.certificate = certificate
    self.setError = setError
    self.extension = `extension`
    self.count = count
    self.value = value
    self.name = name
    self.freeNames = freeNames
  }

  /// Sets up the context of one connection, before its handshake.
  func prepare(_ context: UnsafeMutableRawPointer, _ endings: UnsafeMutableRawPointer) {
    // SSL_CTRL_SET_MSG_CALLBACK_ARG
    _ = control(context, 16, 0, endings)
    setMessage(context) { isSent, _, type, bytes, count, connection, endings in
      // A received alert (21) of two bytes, the second of which means `close_notify` (0).
      guard isSent == 0, type == 21, count == 2, bytes?.load(fromByteOffset: 1, as: UInt8.self) == 0 else { return }
      Unmanaged<TLSEndings>.fromOpaque(endings!).takeUnretainedValue().ended(connection!)
    }
    // SSL_VERIFY_PEER, as libcurl sets it.
    setVerify(context, 1) { isValid, store in
      guard isValid == 1, let library = TLSLibrary.shared, let store, library.depth(store) == 0 else { return isValid }
      if let certificate = library.certificate(store), library.hasNames(certificate) { return 1 }
      // X509_V_ERR_HOSTNAME_MISMATCH
      library.setError(store, 62)
      return 0
    }
  }

  /// True if a certificate has host names or IP addresses as alternative names.
  private func hasNames(_ certificate: UnsafeRawPointer) -> Bool {
    // NID_subject_alt_name
    guard let names = `extension`(certificate, 85, nil, nil) else { return false }
    defer { freeNames(names) }
    return (0..<count(names)).contains { index in
      var type: Int32 = 0
      _ = name(value(names, index), &type)
      // GEN_DNS and GEN_IPADD
      return type == 2 || type == 7
    }
  }
}
