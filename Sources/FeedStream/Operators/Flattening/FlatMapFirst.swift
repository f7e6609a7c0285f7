extension Publisher {
  /// Makes a publisher from a value, delivers that publisher's values, and drops upstream's values until that publisher
  /// has finished.
  ///
  ///     upstream    --a----b----c-----|
  ///     flatMapFirst { Timer… }
  ///       a           --1----2|
  ///       c                     --4--5|
  ///     downstream  ----1----2----4--5|
  ///
  /// Finishes when upstream and the running publisher have finished. **Demand:** everything is requested from upstream;
  /// the outstanding demand passes to each new publisher. **Failure:** the first failure, upstream's or the
  /// publisher's, ends the stream. **Cancellation:** cancels upstream and the running publisher. **Policy:** drops a
  /// value that arrives while a publisher runs, and reports it to ``StreamDiagnostics/onDrop(_:)``.
  @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<P, Self> where P.Failure == Failure {
    Publishers.FlatMapFirst(upstream: self, transform: transform)
  }

  /// `flatMapFirst` for publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapFirst(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<Publishers.SetFailureType<P, Failure>, Self> where P.Failure == Never {
    flatMapFirst { transform($0).setFailureType(to: Failure.self) }
  }
}

extension Publisher where Failure == Never {
  /// `flatMapFirst` for a stream that cannot fail and publishers that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapFirst(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<P, Publishers.SetFailureType<Self, P.Failure>> {
    setFailureType(to: P.Failure.self).flatMapFirst(transform)
  }

  /// `flatMapFirst` for a stream and publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapFirst(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMapFirst<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMapFirst<P, Self> where P.Failure == Never {
    Publishers.FlatMapFirst(upstream: self, transform: transform)
  }
}

extension Publishers {
  /// See `flatMapFirst(_:)`.
  @frozen public struct FlatMapFirst<NewPublisher: Publisher, Upstream: Publisher>: Operator, _JoinsPublishers
  where NewPublisher.Failure == Upstream.Failure {
    public typealias Output = NewPublisher.Output

    public let upstream: Upstream
    public let transform: (Upstream.Output) -> NewPublisher

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> NewPublisher) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.flatten("FlatMapFirst", .isDropped, into: subscriber, transform)
    }
  }
}
