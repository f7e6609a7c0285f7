public import FeedStream

/// The reason why a request's body ended early.
public enum RequestBodyError: Error, Hashable, Sendable {
  /// The body has more than `limit` bytes. The client gets status 413, unless the response has begun.
  case tooLarge(limit: Int)
  /// The chunks of the body are malformed. The client gets status 400, unless the response has begun.
  case malformed
  /// The body arrives too slowly. The client gets status 408, unless the response has begun.
  case tooSlow
  /// The connection was closed, by the client or by the server.
  case disconnected
  /// The response has already been sent.
  case responded
  /// The body already has a subscriber, or has been read.
  case taken
}

/// See ``ServerRequest/body``.
public struct RequestBody: Publisher, _DeliversAtHome {
  public typealias Output = Chunk
  public typealias Failure = RequestBodyError

  let exchange: Exchange

  public func receive<S: Subscriber>(subscriber: S) where S.Input == Chunk, S.Failure == RequestBodyError {
    exchange.connection.read(exchange, into: AnySubscriber(subscriber))
  }

  /// The whole body in one chunk.
  ///
  /// **Demand:** reads the body when a value is requested. **Failure, cancellation:** as for the body. **Policy:**
  /// holds the body, which is limited to ``HTTPServerLimits/bodyBytes``.
  public func whole() -> AnyPublisher<Chunk, RequestBodyError> {
    // Unlike `collect()`, this joins small chunks as they arrive.
    chunked(into: .max).replaceEmpty(with: Chunk()).eraseToAnyPublisher()
  }
}
