internal import COpenSSL

/// The client's side of TLS: its trusted roots and offered protocols. One client can be used for any number of
/// connections, on any thread.
///
/// The server's certificate and host name are always verified; verification can't be turned off. TLS 1.2 and 1.3 are
/// supported. Sessions aren't resumed, so each connection is verified again.
// @unchecked: OpenSSL counts references to its context and locks it; nothing changes the context after `init`.
public final class TLSClient: @unchecked Sendable {
  let context: TLSContext
  let wallClock: @Sendable () -> Int64

  /// - Parameters:
  ///   - roots: the certificates that may vouch for a server; by default, those that the system trusts.
  ///   - identity: the identity to present to a server that requests a client certificate; none by default.
  ///   - protocols: the offered application protocols, most preferred first (ALPN, RFC 7301).
  ///   - wallClock: the time of day, in seconds since 1970, at which certificates must be valid; the system's by
  ///     default.
  /// - Throws: ``TLSError/badProtocol(_:)``, or ``TLSError/unreadable(_:reason:)`` if the system's roots can't be read.
  public init(
    trusting roots: TrustedRoots = .system, identity: TLSIdentity? = nil, protocols: [String] = [],
    wallClock: @escaping @Sendable () -> Int64 = TLSClient.systemClock
  ) throws(TLSError) {
    context = TLSContext(TLS_client_method())
    self.wallClock = wallClock
    SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
    try context.trust(roots)
    if let identity { context.use(identity) }
    let list = try TLSContext.list(of: protocols)
    if !list.isEmpty { SSL_CTX_set_alpn_protos(context.pointer, list, UInt32(list.count)) }
    copenssl_cache_no_sessions(context.pointer)
  }

  /// A TLS session with `host`.
  func engine(for host: String) throws(TLSError) -> TLSEngine {
    let engine = TLSEngine(context, isServer: false, at: wallClock())
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    guard !name.isEmpty, name.utf8.count <= 253, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw .badHost(host)
    }
    let parameters = SSL_get0_param(engine.ssl)
    if X509_VERIFY_PARAM_set1_ip_asc(parameters, name) == 1 { return engine }
    ERR_clear_error()
    guard Self.isName(name) else { throw .badHost(host) }
    // Names must be in the certificate's alternative names (RFC 9525), with `*` only for a whole label.
    X509_VERIFY_PARAM_set_hostflags(
      parameters, UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
    guard X509_VERIFY_PARAM_set1_host(parameters, name, 0) == 1, copenssl_server_name(engine.ssl, name) == 1 else {
      ERR_clear_error()
      throw .badHost(host)
    }
    return engine
  }

  /// True if ASCII text can be a host name: labels of letters, digits, `-` and `_`, with dots between them. For a name
  /// that begins with a dot, OpenSSL would accept the certificate of any subdomain.
  private static func isName(_ text: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "_" }
    }
  }
}

/// The server's side of TLS: its identity, and the clients that it admits. One server can be used for any number of
/// connections, on any thread.
// @unchecked: OpenSSL counts references to its context and locks it; nothing changes the context after `init`.
public final class TLSServer: @unchecked Sendable {
  /// The certificates that clients must present.
  public enum ClientCertificates: Sendable {
    /// No certificate is requested.
    case ignored
    /// A certificate issued under one of these roots, or none.
    case verified(TrustedRoots)
    /// A certificate issued under one of these roots.
    case required(TrustedRoots)
  }

  let context: TLSContext
  let wallClock: @Sendable () -> Int64
  private let choice: ProtocolChoice?

  /// - Parameters:
  ///   - identity: the server's certificate and key.
  ///   - clientCertificates: the certificates that clients must present; none by default.
  ///   - protocols: the supported application protocols, most preferred first (ALPN, RFC 7301). A client that offers
  ///     only other protocols is refused; one that offers none at all is admitted.
  ///   - wallClock: the time of day, in seconds since 1970, at which certificates must be valid; the system's by
  ///     default.
  /// - Throws: ``TLSError/badProtocol(_:)``, or ``TLSError/unreadable(_:reason:)`` for an identity that OpenSSL
  ///   refuses.
  public init(
    identity: TLSIdentity, clientCertificates: ClientCertificates = .ignored, protocols: [String] = [],
    wallClock: @escaping @Sendable () -> Int64 = TLSClient.systemClock
  ) throws(TLSError) {
    context = TLSContext(TLS_server_method())
    self.wallClock = wallClock
    let list = try TLSContext.list(of: protocols)
    choice = list.isEmpty ? nil : ProtocolChoice(list)
    guard context.use(identity) else {
      throw .unreadable("the identity of the server", reason: OpenSSLErrors.takeText())
    }
    if let choice { choice.install(in: context) }
    switch clientCertificates {
    case .ignored: break
    case .verified(let roots):
      SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
      try context.trust(roots)
    case .required(let roots):
      SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
      try context.trust(roots)
    }
    if case .ignored = clientCertificates { return }
    // Sessions aren't kept, so each connection verifies its certificate again.
    copenssl_cache_no_sessions(context.pointer)
    copenssl_give_no_tickets(context.pointer)
  }

  func engine() -> TLSEngine { TLSEngine(context, isServer: true, at: wallClock()) }
}

/// Chooses the application protocol of a server. OpenSSL's context has a pointer to this object, and `TLSServer`
/// retains both.
private final class ProtocolChoice {
  private let list: [UInt8]

  init(_ list: [UInt8]) { self.list = list }

  func install(in context: TLSContext) {
    context.keep(self)
    SSL_CTX_set_alpn_select_cb(
      context.pointer,
      { _, chosen, count, offered, offeredCount, choice in
        let choice = Unmanaged<ProtocolChoice>.fromOpaque(choice!).takeUnretainedValue()
        return choice.list.withUnsafeBufferPointer { list in
          var found: UnsafeMutablePointer<UInt8>?
          // The result points into one of the two lists, both of which outlive this call.
          let result = SSL_select_next_proto(
            &found, count, list.baseAddress, UInt32(list.count), offered, offeredCount)
          guard result == OPENSSL_NPN_NEGOTIATED, let found else { return SSL_TLSEXT_ERR_ALERT_FATAL }
          chosen!.pointee = UnsafePointer(found)
          return SSL_TLSEXT_ERR_OK
        }
      }, Unmanaged.passUnretained(self).toOpaque())
  }
}
