extension Publisher where Output: Sendable {
  /// The values as an asynchronous sequence, which throws the failure.
  ///
  ///     for try await value in publisher.values { … }
  ///
  ///     upstream    --a--------#
  ///     next()      x----x--------x
  ///     returns     --a--------#  nil
  ///
  /// If you make the sequence on an ``EventLoop``, you may iterate it anywhere: the stream is used only on its loop. If
  /// you make it elsewhere, you must iterate it where the stream lives, which the compiler cannot check; see
  /// `values(on:)`. Each iterator makes a new subscription. The loop keeps running until a task iterates the sequence
  /// or the sequence is released, unless ``Publisher/keepsLoopAlive(_:)`` says otherwise.
  ///
  /// **Demand:** one value for each call to `next()`. **Failure:** thrown once; then there are no more values.
  /// **Cancellation:** cancelling the task, or releasing the iterator, cancels the subscription. **Policy:** holds
  /// nothing but a failure; upstream decides what happens to a value that no task awaits. A value that is in transit
  /// when the task is cancelled is dropped and reported.
  @inlinable public var values: AsyncThrowingPublisher<Self> { AsyncThrowingPublisher(self) }

  /// The values of a stream that lives on `loop`, as an asynchronous sequence. Use this for streams that are set up
  /// before their loop runs.
  ///
  /// **Demand, failure, cancellation, policy:** as in `values`.
  @inlinable public func values(on loop: EventLoop) -> AsyncThrowingPublisher<Self> {
    AsyncThrowingPublisher(self, on: loop)
  }
}

/// The values of a publisher as an asynchronous sequence; see `values`.
public struct AsyncThrowingPublisher<Upstream: Publisher>: AsyncSequence, Sendable
where Upstream.Output: Sendable {
  public typealias Element = Upstream.Output
  // Untyped, as in Combine: with a typed failure, Swift 6.3 crashes where a caller rethrows the error.
  public typealias Failure = any Error

  @usableFromInline let origin: AsyncOrigin<Element, Upstream.Failure>

  @inlinable public init(_ publisher: Upstream) { origin = AsyncOrigin(publisher) { publisher.subscribe($0) } }

  @inlinable init(_ publisher: Upstream, on loop: EventLoop) {
    origin = AsyncOrigin(on: loop, publisher) { publisher.subscribe($0) }
  }

  /// Subscribes to the publisher.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: origin.subscribe()) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    public typealias Failure = any Error

    fileprivate let lease: RelayLease<Element, Upstream.Failure>

    public nonisolated(nonsending) mutating func next() async throws -> Element? {
      try await next(isolation: #isolation)
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> Element? {
      try await lease.relay.next(isolation: actor)
    }
  }
}
