internal import FeedStream

/// Requests the body of a response from a publisher, a chunk at a time, while the connection has room.
final class BodyWriter: ResponseSource, Subscriber {
  typealias Input = Chunk
  typealias Failure = any Error

  private weak var connection: ServerConnection?
  private let isChunked: Bool
  let keepsBody: Bool
  /// The number of announced bytes that have not arrived yet.
  private var left: Int?
  private var up: (any Subscription)?
  /// True if a chunk was requested and has not arrived yet.
  private var isAsked = false
  private var isAsking = false
  private var isOver = false

  init(_ connection: ServerConnection, _ delimiting: ResponseHeads.Delimiting, keepsBody: Bool) {
    self.connection = connection
    self.keepsBody = keepsBody
    isChunked = delimiting == .chunked
    if case .length(let count) = delimiting { left = count }
  }

  var isEndless: Bool { false }
  func serverIsEnding() {}

  func cancel() {
    isOver = true
    let up = self.up
    self.up = nil
    up?.cancel()
  }

  func roomIsThere() {
    guard !isOver, !isAsked, !isAsking, let up else { return }
    isAsked = true
    isAsking = true
    // Chunks that arrive during the request are gathered into one write.
    up.request(.max(1))
    isAsking = false
    connection?.flush()
  }

  func receive(subscription: any Subscription) {
    guard up == nil, !isOver else { return subscription.cancel() }
    up = subscription
    roomIsThere()
  }

  func receive(_ input: Chunk) -> Subscribers.Demand {
    guard !isOver, let connection else { return .none }
    isAsked = false
    if !input.isEmpty { write(input, to: connection) }
    guard !isOver else { return .none }
    defer { if !isAsking { connection.flush() } }
    guard connection.hasRoom else { return .none }
    isAsked = true
    return .max(1)
  }

  private func write(_ input: Chunk, to connection: ServerConnection) {
    if isChunked {
      connection.enqueue(Chunk(String(input.count, radix: 16) + "\r\n"))
      connection.enqueue(input)
      connection.enqueue(Self.lineEnd)
    } else if let left {
      connection.enqueue(input[0..<min(left, input.count)])
      self.left = left - min(left, input.count)
      guard input.count > left else { return }
      // The client would not read bytes beyond the announced length as part of this response.
      connection.report(ServerResponseError.bodyTooLong)
      cancel()
      connection.responseIsOver()
    } else {
      connection.enqueue(input)
    }
  }

  private static let lineEnd = Chunk("\r\n")
  private static let lastChunk = Chunk("0\r\n\r\n")

  func receive(completion: Subscribers.Completion<any Error>) {
    guard !isOver else { return }
    isOver = true
    up = nil
    guard let connection else { return }
    var isWhole = false
    switch completion {
    case .finished where left ?? 0 == 0: isWhole = true
    case .finished: connection.report(ServerResponseError.bodyTooShort(missing: left ?? 0))
    case .failure(is GzipEncoder.Surplus):
      // The client gets the announced bytes, as it does without compression.
      connection.report(ServerResponseError.bodyTooLong)
      isWhole = true
    case .failure(let error): connection.report(error)
    }
    if isWhole {
      if isChunked { connection.enqueue(Self.lastChunk) }
      connection.responseIsOver()
    } else {
      // The body is incomplete. The client gets the bytes that were delivered but no proper end, so that it can tell
      // that the body was cut off. If only the end of the connection ends the body, the connection is reset, and the
      // client may lose bytes that were written.
      connection.cutOff()
    }
  }
}
