internal import COpenSSL
public import FeedStream

/// The parameters that the two sides of a secure connection have agreed on.
public struct TLSSession: Hashable, Sendable {
  /// The protocol version: `TLSv1.3` or `TLSv1.2`.
  public let version: String
  /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
  public let cipher: String
  /// The application protocol that was agreed on (ALPN).
  public let applicationProtocol: String?
  /// The host name that the client requested (SNI).
  public let serverName: String?
  /// The subject of the peer's certificate; `nil` if the peer presented no certificate.
  public let peerSubject: String?
  /// The host names and addresses for which the peer's certificate is valid; 4 KiB at most, and the rest are left out.
  public let peerNames: [String]
  /// The SHA-256 fingerprint of the peer's certificate.
  public let peerFingerprint: [UInt8]?
}

extension Connection {
  /// The negotiated parameters; `nil` for a connection that isn't secure.
  public var tls: TLSSession? { (channel as? TLSChannel)?.engine.session }

  /// The reason why the connection is no longer secure, such as ``TLSError/truncated`` or
  /// ``TLSError/refused(reason:)``.
  public var tlsFailure: TLSError? { (channel as? TLSChannel)?.failure }
}

extension TLSEngine {
  fileprivate var session: TLSSession {
    var bytes: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &bytes, &count)
    let agreed = bytes.map { String(decoding: UnsafeBufferPointer(start: $0, count: Int(count)), as: UTF8.self) }
    let certificate = peerCertificate
    return TLSSession(
      version: String(cString: SSL_get_version(ssl)),
      cipher: SSL_CIPHER_get_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
      applicationProtocol: agreed,
      serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
      peerSubject: certificate?.subject, peerNames: certificate?.names ?? [], peerFingerprint: certificate?.sha256)
  }
}
