import CLibrary
internal import COpenSSL

/// The shared state of the connections of a client or a server: OpenSSL's `SSL_CTX`.
// @unchecked: OpenSSL counts references to it and locks it. It is changed only during the `init` of its client or
// server.
final class TLSContext: @unchecked Sendable {
  let pointer: OpaquePointer
  private var kept: [AnyObject] = []

  init(_ method: OpaquePointer?) {
    guard let pointer = SSL_CTX_new(method) else {
      preconditionFailure("FeedTLS: OpenSSL cannot be used: \(OpenSSLErrors.takeText())")
    }
    self.pointer = pointer
    _ = copenssl_min_version(pointer, TLS1_2_VERSION)
    copenssl_refuse_old_ways(pointer)
    // Idle connections hold no buffers.
    copenssl_set_mode(pointer, Int(SSL_MODE_RELEASE_BUFFERS))
  }

  deinit { SSL_CTX_free(pointer) }

  func keep(_ object: AnyObject) { kept.append(object) }

  func trust(_ roots: TrustedRoots) throws(TLSError) {
    ERR_clear_error()
    if roots.includesSystem, SSL_CTX_set_default_verify_paths(pointer) != 1 {
      throw .unreadable("the system's trusted roots", reason: OpenSSLErrors.takeText())
    }
    let store = SSL_CTX_get_cert_store(pointer)
    for root in roots.certificates { X509_STORE_add_cert(store, root.x509) }
    // A certificate in `roots` is trusted even if it isn't a root.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(pointer), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    ERR_clear_error()
  }

  @discardableResult func use(_ identity: TLSIdentity) -> Bool {
    ERR_clear_error()
    guard SSL_CTX_use_certificate(pointer, identity.certificates[0].x509) == 1,
      SSL_CTX_use_PrivateKey(pointer, identity.key) == 1
    else { return false }
    for certificate in identity.certificates.dropFirst() where copenssl_add_chain(pointer, certificate.x509) != 1 {
      return false
    }
    return true
  }

  /// Protocol names in the format of ALPN, each preceded by its length.
  static func list(of protocols: [String]) throws(TLSError) -> [UInt8] {
    var list: [UInt8] = []
    for name in protocols {
      guard (1...255).contains(name.utf8.count) else { throw .badProtocol(name) }
      list.append(UInt8(name.utf8.count))
      list += name.utf8
    }
    return list
  }
}

extension TLSClient {
  /// The system's time of day, in seconds since 1970.
  @Sendable public static func systemClock() -> Int64 { Int64(time(nil)) }
}
