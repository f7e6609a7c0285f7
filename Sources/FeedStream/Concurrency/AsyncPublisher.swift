extension Publisher where Failure == Never, Output: Sendable {
  /// The values as an asynchronous sequence.
  ///
  ///     for await value in publisher.values { … }
  ///
  ///     upstream    --a--------b--|
  ///     next()      x----x----------x
  ///     returns     --a--------b----nil
  ///
  /// If you make the sequence on an ``EventLoop``, you may iterate it anywhere: the stream is used only on its loop. If
  /// you make it elsewhere, you must iterate it where the stream lives, which the compiler cannot check; see
  /// `values(on:)`. Each iterator makes a new subscription. The loop keeps running until a task iterates the sequence
  /// or the sequence is released, unless ``Publisher/keepsLoopAlive(_:)`` says otherwise.
  ///
  /// **Demand:** one value for each call to `next()`. **Failure:** none. **Cancellation:** cancelling the task, or
  /// releasing the iterator, cancels the subscription. **Policy:** holds nothing; upstream decides what happens to a
  /// value that no task awaits. A value that is in transit when the task is cancelled is dropped and reported.
  @inlinable public var values: AsyncPublisher<Self> { AsyncPublisher(self) }

  /// The values of a stream that lives on `loop`, as an asynchronous sequence. Use this for streams that are set up
  /// before their loop runs.
  ///
  /// **Demand, failure, cancellation, policy:** as in `values`.
  @inlinable public func values(on loop: EventLoop) -> AsyncPublisher<Self> {
    AsyncPublisher(self, on: loop)
  }
}

/// The values of a publisher that cannot fail, as an asynchronous sequence; see `values`.
public struct AsyncPublisher<Upstream: Publisher>: AsyncSequence, Sendable
where Upstream.Failure == Never, Upstream.Output: Sendable {
  public typealias Element = Upstream.Output
  public typealias Failure = Never

  @usableFromInline let origin: AsyncOrigin<Element, Never>

  @inlinable public init(_ publisher: Upstream) { origin = AsyncOrigin(publisher) { publisher.subscribe($0) } }

  @inlinable init(_ publisher: Upstream, on loop: EventLoop) {
    origin = AsyncOrigin(on: loop, publisher) { publisher.subscribe($0) }
  }

  /// Subscribes to the publisher.
  public func makeAsyncIterator() -> Iterator { Iterator(lease: origin.subscribe()) }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    fileprivate let lease: RelayLease<Element, Never>

    public nonisolated(nonsending) mutating func next() async -> Element? { await next(isolation: #isolation) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await lease.relay.next(isolation: actor)
    }
  }
}
