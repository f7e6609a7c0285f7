internal import FeedStream

// Responses and refusals.
extension ServerConnection {
  /// Retains the work that determines the response until it completes.
  func keep(_ deciding: AnyCancellable, _ number: Int) {
    if isCurrent(number), !isResponding { self.deciding = deciding }
  }

  /// - Parameter id: the request's id, to be sent with the response.
  func respond(_ response: ServerResponse, to head: RequestHead, _ number: Int, id: String? = nil) {
    guard isCurrent(number), !isResponding else { return }
    isResponding = true
    let decided = deciding
    deciding = nil
    defer { _ = decided }
    if server.isEnding || !body.isOver && !canDrain { willClose = true }
    if let bytes = PreparedResponse.plainBytes(response, to: head) {
      guard encode(response, .length(bytes.count), to: head, bytes, number, id: id) else { return }
      hasResponded = true
      return process()
    }
    var response = response
    if let id { response.headers["X-Request-ID"] = id }
    if case .upgrade(let name, let take) = response.body {
      return upgrade(to: name, response.headers, of: head, take)
    }
    let prepared = PreparedResponse(response, to: head)
    if HTTPSyntax.isSame(prepared.response.headers["Connection"] ?? "", "close") { willClose = true }
    if prepared.delimiting == .close { willClose = true }
    let isSmall = prepared.bytes.map { $0.count <= ResponseHeads.mostBodyBytes } ?? false
    guard encode(prepared.response, prepared.delimiting, to: head, isSmall ? prepared.bytes : nil, number) else {
      return
    }
    switch prepared.sending {
    case .nothing: hasResponded = true
    case .bytes(let bytes):
      if !isSmall { enqueue(bytes) }
      hasResponded = true
    case .stream(let publisher):
      let writer = BodyWriter(self, prepared.delimiting, keepsBody: prepared.whole != nil)
      source = writer
      closingEndsBody = prepared.delimiting == .close
      if let whole = prepared.whole { server.hold(whole, for: self) }
      publisher.subscribe(writer)
    case .endless(let body):
      source = body.attach(self, after: head)
      // The snapshot of an event log may have closed the connection.
      guard phase == .exchange else {
        source.take()?.cancel()
        return
      }
      if server.isEnding { source?.serverIsEnding() }
    }
    process()
  }

  /// - Returns: false if the response can't be sent; the client then gets a different one.
  private func encode(
    _ response: ServerResponse, _ delimiting: ResponseHeads.Delimiting, to head: RequestHead, _ body: Chunk?,
    _ number: Int, id: String? = nil
  ) -> Bool {
    let encoded = server.heads.encode(
      response.status, response.headers, delimiting, closes: willClose, isOld: head.minorVersion == 0,
      now: server.wallClock(), id: id, body: body)
    if let encoded {
      enqueue(encoded)
      return true
    }
    report(ServerResponseError.invalidField, of: head)
    isResponding = false
    let knownID = id ?? response.headers["X-Request-ID"]
    respond(
      ServerResponse(.internalServerError), to: head, number, id: knownID.flatMap { HTTPSyntax.isValue($0) ? $0 : nil })
    return false
  }

  /// Called when the source of the response's body has completed.
  func responseIsOver() {
    source = nil
    hasResponded = true
    process()
  }

  /// Responds to a request that is invalid or can't be served, and closes the connection. If the response has begun,
  /// only closes the connection.
  func refuse(_ failure: ParseFailure) {
    let isHead = phase == .head ? parser.isHead : received?.method == .head
    guard !isResponding || phase == .head else { return close(failing: bodyError(failure)) }
    number += 1
    let reader = self.reader
    self.reader = nil
    let decided = deciding
    deciding = nil
    let text = Chunk("\(failure.status): \(failure.reason)\n")
    let encoded = server.heads.encode(
      failure.status, .plainText, .length(text.count), closes: true, isOld: false, now: server.wallClock(),
      body: isHead ? nil : text)
    if let encoded { enqueue(encoded) }
    beginClosing()
    reader?.end(.failure(bodyError(failure)))
    _ = decided
  }

  private func bodyError(_ failure: ParseFailure) -> RequestBodyError {
    switch failure.status {
    case .contentTooLarge: .tooLarge(limit: bodyLimit)
    case .requestTimeout: .tooSlow
    default: .malformed
    }
  }

  /// Reports an error from the handler, or in its response.
  func report(_ error: any Error, of head: RequestHead? = nil) {
    guard phase != .closed, let head = head ?? received else { return }
    let failed = FailedRequest(error: error, method: head.method, path: head.text(head.path), peer: peer)
    if let onError = server.onError { return onError(failed) }
    StreamDiagnostics.caught(error, "HTTPServer: \(failed.request)")
  }

  func trailers(of exchange: Exchange) -> HTTPHeaders {
    guard isCurrent(exchange.number), case .over(let trailers?) = body else { return HTTPHeaders() }
    return HTTPHeaders(trailers)
  }
}
