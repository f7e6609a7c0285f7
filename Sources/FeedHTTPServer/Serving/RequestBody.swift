internal import FeedStream

/// The amount that is still to come of a request's body.
enum BodyState {
  case none
  case length(Int)
  case chunked(ChunkedDecoder)
  /// Everything has come, and these are the trailers.
  case over(RequestHead?)

  var isOver: Bool {
    switch self {
    case .none, .over: true
    case .length, .chunked: false
    }
  }
}

/// The subscriber of a request's body.
final class BodyReader: Subscription {
  private var down: AnySubscriber<Chunk, HTTPServer.BodyError>?
  private var connection: ServerConnection?
  fileprivate var demand = Subscribers.Demand.none

  init(_ connection: ServerConnection, _ down: AnySubscriber<Chunk, HTTPServer.BodyError>) {
    self.connection = connection
    self.down = down
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "HTTPServer.Request.body: a request for no values; ask for 1 or more")
    self.demand += demand
    connection?.bodyIsWanted()
  }

  func cancel() {
    let connection = self.connection
    self.connection = nil
    down = nil
    connection?.readerHasLeft(self)
  }

  fileprivate func deliver(_ chunk: Chunk) {
    guard let down else { return }
    demand -= 1
    demand += down.receive(chunk)
  }

  func end(_ completion: Subscribers.Completion<HTTPServer.BodyError>) {
    let down = self.down
    self.down = nil
    connection = nil
    down?.receive(completion: completion)
  }
}

extension ServerConnection {
  /// True when bytes of the body are waited for.
  var wantsBody: Bool { !body.isOver && (isDraining || (reader?.demand ?? .none) > .none) }

  /// True when what has come may be the end of a body that comes in chunks, for which nobody need ask.
  private var mayBeOver: Bool {
    if reader != nil, !input.isEmpty, case .chunked = body { true } else { false }
  }

  func read(_ exchange: Exchange, into subscriber: AnySubscriber<Chunk, HTTPServer.BodyError>) {
    guard isCurrent(exchange.number), !isBodyTaken else {
      let error: HTTPServer.BodyError =
        isCurrent(exchange.number) ? .taken : phase == .closed ? .disconnected : .answered
      return Fail(error: error).receive(subscriber: subscriber)
    }
    isBodyTaken = true
    guard !body.isOver else { return Empty<Chunk, HTTPServer.BodyError>().receive(subscriber: subscriber) }
    let reader = BodyReader(self, subscriber)
    self.reader = reader
    subscriber.receive(subscription: reader)
  }

  fileprivate func bodyIsWanted() {
    if received?.expectsContinue == true, !isAnswering, input.isEmpty {
      enqueue(Chunk("HTTP/1.1 100 Continue\r\n\r\n"))
      flush()
    }
    // It has leave now, or needs none.
    clearExpectation()
    process()
  }

  fileprivate func readerHasLeft(_ reader: BodyReader) {
    if self.reader === reader { self.reader = nil }
  }

  /// Delivers what has come of the body and is requested.
  ///
  /// - Returns: true when the body is over now.
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
          // It has been answered, and the response is to arrive.
          if isDraining { beginClosing() } else { refuse(failure) }
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

  /// More is needed, which may never come.
  private func truncated() -> Bool {
    if inputHasEnded { close() }
    return false
  }
}
