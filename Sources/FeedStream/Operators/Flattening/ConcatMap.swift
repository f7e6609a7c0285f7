extension Publisher {
  /// Makes a publisher from each value and delivers the publishers' values, one publisher after another.
  ///
  ///     upstream    --a--b---------|
  ///     concatMap { Timer… }
  ///       a           --1----2--|
  ///       b                     --3--4|
  ///     downstream  ----1----2----3--4|
  ///
  /// Finishes when upstream and the publishers of all its values have finished. **Demand:** requests everything from
  /// upstream; the outstanding demand passes to each new publisher. **Failure:** the first failure, upstream's or a
  /// publisher's, ends the stream immediately; waiting values are not mapped, but reported as dropped.
  /// **Cancellation:** cancels upstream and the running publisher. **Policy:** holds values without limit until their
  /// turn, so nothing is lost, not even a subject's values. If upstream is long and can wait, use
  /// `flatMap(maxPublishers: .max(1))`, which takes upstream's values one at a time.
  @inlinable public func concatMap<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.ConcatMap<P, Self> where P.Failure == Failure {
    Publishers.ConcatMap(upstream: self, transform: transform)
  }

  /// From each value, makes a publisher that cannot fail, and delivers the publishers' values, one publisher after
  /// another.
  ///
  /// **Demand, failure, cancellation, policy:** as in `concatMap(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func concatMap<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.ConcatMap<Publishers.SetFailureType<P, Failure>, Self> where P.Failure == Never {
    concatMap { transform($0).setFailureType(to: Failure.self) }
  }
}

extension Publisher where Failure == Never {
  /// `concatMap` for a stream that cannot fail and publishers that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in `concatMap(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func concatMap<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.ConcatMap<P, Publishers.SetFailureType<Self, P.Failure>> {
    setFailureType(to: P.Failure.self).concatMap(transform)
  }

  /// `concatMap` for a stream and publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `concatMap(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func concatMap<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.ConcatMap<P, Self> where P.Failure == Never {
    Publishers.ConcatMap(upstream: self, transform: transform)
  }
}

extension Publishers {
  /// See `concatMap(_:)`.
  @frozen public struct ConcatMap<NewPublisher: Publisher, Upstream: Publisher>: Operator, _JoinsPublishers
  where NewPublisher.Failure == Upstream.Failure {
    public typealias Output = NewPublisher.Output

    public let upstream: Upstream
    public let transform: (Upstream.Output) -> NewPublisher

    @inlinable public init(upstream: Upstream, transform: @escaping (Upstream.Output) -> NewPublisher) {
      self.upstream = upstream
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.flatten("ConcatMap", .waits, into: subscriber, transform)
    }
  }
}
