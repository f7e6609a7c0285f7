internal import COpenSSL
internal import FeedStream

/// One TLS session without a connection: it converts between ciphertext and plaintext. It makes no decisions about time
/// or demand.
///
/// The engine has its own BIO, which reads ciphertext from the given chunk and writes to chunks. So input isn't copied,
/// and an idle session holds no buffer.
final class TLSEngine {
  let ssl: OpaquePointer
  private let context: TLSContext
  /// The unread ciphertext.
  private var input = Chunk()
  /// The ciphertext to send.
  private(set) var output: [Chunk] = []
  private(set) var outputCount = 0
  /// The reason why a call failed. After that, no other call is allowed.
  private var failure: TLSError?
  /// True after a failed call.
  var hasFailed: Bool { failure != nil }
  /// True after the peer's `close_notify`.
  var hasEnded: Bool { SSL_get_shutdown(ssl) & SSL_RECEIVED_SHUTDOWN != 0 }
  private(set) var hasSaidGoodbye = false
  /// The certificate that the peer presented, and the first invalid certificate in its chain.
  private var refusal: (shown: Certificate, at: Certificate)?

  init(_ context: TLSContext, isServer: Bool, at time: Int64) {
    self.context = context
    ssl = SSL_new(context.pointer)
    let bio = BIO_new(Self.method)
    BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
    BIO_set_init(bio, 1)
    // `ssl` owns the BIO from now on, with one reference for both directions.
    SSL_set_bio(ssl, bio, bio)
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    // This callback decides nothing; it only records which certificate was refused.
    SSL_set_verify(ssl, SSL_CTX_get_verify_mode(context.pointer)) { isRight, verification in
      if isRight == 0, let verification {
        let ssl = OpaquePointer(
          X509_STORE_CTX_get_ex_data(verification, SSL_get_ex_data_X509_STORE_CTX_idx()))
        Unmanaged<TLSEngine>.fromOpaque(SSL_get_ex_data(ssl, 0)).takeUnretainedValue().refused(verification)
      }
      return isRight
    }
    X509_VERIFY_PARAM_set_time(SSL_get0_param(ssl), Int(time))
    if isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
  }

  deinit { SSL_free(ssl) }

  // MARK: Ciphertext

  /// True if there is unread ciphertext or plaintext.
  var holdsInput: Bool { !input.isEmpty || SSL_pending(ssl) > 0 }

  func feed(_ chunk: Chunk) { input = input.isEmpty ? chunk : Chunk(joining: [input, chunk]) }

  func takeOutput() -> [Chunk] {
    defer { (output, outputCount) = ([], 0) }
    return output
  }

  // `unsafe` is correct here: the method is created once, and then only read.
  nonisolated(unsafe) private static let method: OpaquePointer? = {
    let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "chunks")
    BIO_meth_set_read(method) { bio, room, count in
      let engine = Unmanaged<TLSEngine>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
      guard let room, let taken = engine.take(room, Int(count)) else {
        copenssl_bio_wants_read(bio)
        return -1
      }
      copenssl_bio_succeeded(bio)
      return Int32(taken)
    }
    BIO_meth_set_write(method) { bio, bytes, count in
      let engine = Unmanaged<TLSEngine>.fromOpaque(BIO_get_data(bio)).takeUnretainedValue()
      copenssl_bio_succeeded(bio)
      engine.output.append(Chunk(copying: UnsafeRawBufferPointer(start: bytes, count: Int(count))))
      engine.outputCount += Int(count)
      return count
    }
    BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0 }
    return method
  }()

  private func take(_ room: UnsafeMutablePointer<CChar>, _ count: Int) -> Int? {
    guard !input.isEmpty else { return nil }
    let taken = min(count, input.count)
    input.withUnsafeBytes { UnsafeMutableRawPointer(room).copyMemory(from: $0.baseAddress!, byteCount: taken) }
    input = taken == input.count ? Chunk() : input[taken..<input.count]
    return taken
  }

  // MARK: Plaintext

  enum Step<Value> {
    case done(Value)
    /// More ciphertext is needed.
    case wantsInput
    /// The peer has closed its sending side.
    case ended
    case failed(TLSError)
  }

  func handshake(with host: String?) -> Step<Void> {
    if let failure { return .failed(failure) }
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    return result == 1 ? .done(()) : step(result, host)
  }

  /// The plaintext of the received bytes, at most 64 KiB.
  func read() -> Step<Chunk> {
    if let failure { return .failed(failure) }
    // As much as the received bytes can contain, plus a record whose beginning was received earlier.
    let capacity = min(input.count + Int(SSL_pending(ssl)) + 17 * 1024, 64 * 1024)
    var stop: Step<Chunk>?
    let chunk = Chunk(capacity: capacity) { room in
      var used = 0
      while used < room.count {
        ERR_clear_error()
        var count = 0
        let result = SSL_read_ex(ssl, room.baseAddress! + used, room.count - used, &count)
        guard result == 1 else {
          stop = step(result, nil)
          break
        }
        used += count
      }
      return used
    }
    guard chunk.isEmpty, let stop else { return .done(chunk.compacted()) }
    return stop
  }

  /// Reads the rest of a message of the peer, such as a long session ticket, of which only a part has arrived. Until
  /// then, OpenSSL can neither write nor send `close_notify`.
  func finishMessage() -> Step<Void> { SSL_is_init_finished(ssl) == 1 ? .done(()) : handshake(with: nil) }

  /// Encrypts a piece of at most 16 KiB, which becomes one record. Call this only after ``finishMessage()`` is done.
  func write(_ bytes: UnsafeRawBufferPointer) -> TLSError? {
    guard bytes.count > 0 else { return nil }
    if let failure { return failure }
    guard !hasSaidGoodbye else { return .protocolViolation(reason: "the connection is closed") }
    ERR_clear_error()
    var count = 0
    // Everything is written: the BIO accepts any number of bytes.
    let result = SSL_write_ex(ssl, bytes.baseAddress, bytes.count, &count)
    guard result != 1 else { return nil }
    if case .failed(let error) = step(result, nil) as Step<Void> { return error }
    return .protocolViolation(reason: "it requested a renegotiation")
  }

  /// Sends `close_notify`: nothing more will be written.
  func sayGoodbye() {
    guard !hasFailed, !hasSaidGoodbye, SSL_is_init_finished(ssl) == 1 else { return }
    hasSaidGoodbye = true
    ERR_clear_error()
    _ = SSL_shutdown(ssl)
    ERR_clear_error()
  }

  private func step<Value>(_ result: Int32, _ host: String?) -> Step<Value> {
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantsInput
    case SSL_ERROR_ZERO_RETURN: return .ended
    default:
      let reason = reason(host)
      failure = reason
      return .failed(reason)
    }
  }

  // MARK: Reasons

  /// The reason why the last call failed.
  private func reason(_ host: String?) -> TLSError {
    let error = ERR_get_error()
    ERR_clear_error()
    guard copenssl_is_ssl(error) != 0 else { return .protocolViolation(reason: OpenSSLErrors.text(of: error)) }
    switch copenssl_reason(error) {
    case SSL_R_CERTIFICATE_VERIFY_FAILED: return certificateReason(host)
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return .noCertificate
    case SSL_R_NO_APPLICATION_PROTOCOL, Int32(SSL_AD_REASON_OFFSET) + SSL_AD_NO_APPLICATION_PROTOCOL:
      return .noCommonProtocol
    case SSL_R_WRONG_VERSION_NUMBER, SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_PACKET_LENGTH_TOO_LONG:
      // If the first bytes aren't a TLS record, the peer doesn't speak TLS.
      return SSL_is_init_finished(ssl) == 1
        ? .protocolViolation(reason: OpenSSLErrors.text(of: error)) : .notTLS
    case let code where code >= SSL_AD_REASON_OFFSET:
      let text = OpenSSLErrors.text(of: error)
      // "tlsv1 alert unknown ca": the name of the alert follows the word.
      return .refused(reason: text.firstRange(of: "alert ").map { String(text[$0.upperBound...]) } ?? text)
    default: return .protocolViolation(reason: OpenSSLErrors.text(of: error))
    }
  }

  private func refused(_ verification: OpaquePointer) {
    guard refusal == nil, let shown = X509_STORE_CTX_get0_cert(verification) else { return }
    let at = X509_STORE_CTX_get_current_cert(verification) ?? shown
    for certificate in [shown, at] { X509_up_ref(certificate) }
    refusal = (Certificate(shown), Certificate(at))
  }

  private func certificateReason(_ host: String?) -> TLSError {
    let code = Int32(SSL_get_verify_result(ssl))
    let certificate = refusal?.at
    let subject = certificate?.subject ?? "the peer"
    switch code {
    case X509_V_ERR_CERT_HAS_EXPIRED: return .expired(certificate: subject)
    case X509_V_ERR_CERT_NOT_YET_VALID: return .notYetValid(certificate: subject)
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      return .wrongHost(host ?? "this host", names: certificate?.names ?? [])
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: return .selfSigned(certificate: subject)
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return .untrusted(certificate: refusal?.shown.subject ?? subject, issuer: certificate?.issuer ?? "somebody")
    default:
      return .badCertificate(subject, reason: String(cString: X509_verify_cert_error_string(Int(code))))
    }
  }

  /// The certificate that the peer presented.
  var peerCertificate: Certificate? { SSL_get1_peer_certificate(ssl).map(Certificate.init) }
}
