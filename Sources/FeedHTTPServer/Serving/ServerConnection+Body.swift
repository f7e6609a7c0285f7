internal import FeedStream

/// The remaining length of a request's body.
enum BodyState {
  case none
  case length(Int)
  case chunked(ChunkedDecoder)
  /// The body is complete, and these are the trailers.
  case over(RequestHead?)

  var isOver: Bool {
    switch self {
    case .none, .over: true
    case .length, .chunked: false
    }
  }
}

extension ServerConnection: PullSource {
  typealias BodyReader = PullSubscription<Chunk, RequestBodyError>

  /// True while waiting for bytes of the body.
  var wantsBody: Bool { !body.isOver && (isDraining || (reader?.demand ?? .none) > .none) }

  /// True if the bytes that have arrived may be the end of a chunked body, which is read without demand.
  private var mayBeOver: Bool {
    if reader != nil, !input.isEmpty, case .chunked = body { true } else { false }
  }

  /// True if it is worth reading the rest of the body to keep the connection.
  var canDrain: Bool {
    if received?.expectsContinue == true { return false }
    if isDraining { return countedBytes <= limits.drainedBytes }
    return if case .length(let left) = body { left <= limits.drainedBytes } else { true }
  }

  func read(_ exchange: Exchange, into subscriber: AnySubscriber<Chunk, RequestBodyError>) {
    guard isCurrent(exchange.number), !isBodyTaken else {
      let error: RequestBodyError =
        isCurrent(exchange.number) ? .taken : phase == .closed ? .disconnected : .responded
      return Fail(error: error).receive(subscriber: subscriber)
    }
    isBodyTaken = true
    guard !body.isOver else { return Empty<Chunk, RequestBodyError>().receive(subscriber: subscriber) }
    let reader = BodyReader("ServerRequest.body", subscriber, self)
    self.reader = reader
    reader.begin()
  }

  func wanted(by _: BodyReader) -> Bool {
    if received?.expectsContinue == true, !isResponding, input.isEmpty {
      enqueue(Chunk("HTTP/1.1 100 Continue\r\n\r\n"))
      flush()
    }
    // The client has permission to send the body now, or needs none.
    clearExpectation()
    process()
    return false
  }

  func cancelled(_ reader: BodyReader) {
    if self.reader === reader { self.reader = nil }
  }

  /// Delivers bytes of the body that have arrived, on demand.
  ///
  /// - Returns: true if the body is now complete.
  func pumpBody() -> Bool {
    while wantsBody || mayBeOver {
      switch body {
      case .none, .over: return false
      case .length(let left):
        guard !input.isEmpty else { return truncated() }
        let piece = input[0..<min(left, input.count)]
        input = input[piece.count..<input.count]
        body = piece.count == left ? .over(nil) : .length(left - piece.count)
        take(piece)
      case .chunked(let decoder):
        switch decoder.next(&input, givesData: wantsBody) {
        case .dataWaits: return false
        case .needsMore: return truncated()
        case .failure(let failure):
          refuseBody(failure)
          return false
        case .finished: body = .over(decoder.trailers)
        case .data(let piece): take(piece)
        }
      }
      guard phase == .exchange else { return false }
      if body.isOver {
        let reader = self.reader
        self.reader = nil
        reader?.end(.finished)
        return phase == .exchange
      }
      if isDraining, countedBytes > limits.drainedBytes {
        beginClosing()
        return false
      }
    }
    return false
  }

  private func take(_ piece: Chunk) {
    countedBytes += piece.count
    if !isDraining { reader?.deliver(piece) }
  }

  /// Called when more bytes are needed, but may never arrive.
  private func truncated() -> Bool {
    // A complete response must still reach the client.
    if inputHasEnded { if hasResponded { willClose = true } else { close() } }
    return false
  }

  /// Ends a body that is invalid or too slow.
  func refuseBody(_ failure: ParseFailure) {
    guard hasResponded else { return refuse(failure) }
    // The response must still reach the client.
    willClose = true
    process()
  }
}
