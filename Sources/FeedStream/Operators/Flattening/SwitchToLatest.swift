extension Publisher where Output: Publisher, Output.Failure == Failure {
  /// Delivers the values of the newest publisher received, and cancels the previous one.
  ///
  ///     upstream    --a-------b-----|
  ///       a           --1--2--3--|
  ///       b                   --4--5|
  ///     downstream  ----1--2----4--5|
  ///
  /// ![map { answers($0) }.switchToLatest()](marbles-switchToLatest.svg)
  ///
  /// Finishes when upstream and the newest publisher have finished. **Demand:** the outstanding demand passes to each
  /// new publisher; everything is requested from upstream. **Failure:** the first failure, upstream's or the newest
  /// publisher's, ends the stream. **Cancellation:** cancels upstream and the newest publisher. **Policy:** forwards;
  /// values that a publisher has not delivered when it is replaced are lost, by design.
  @inlinable public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Failure == Never {
  /// `switchToLatest` for a stream that cannot fail and publishers that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in `switchToLatest()` when both can fail.
  @inlinable
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Publishers.SetFailureType<Self, Output.Failure>> {
    Publishers.SwitchToLatest(upstream: setFailureType(to: Output.Failure.self))
  }
}

extension Publisher where Output: Publisher, Failure == Never, Output.Failure == Never {
  /// `switchToLatest` for a stream and publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `switchToLatest()` when both can fail.
  @inlinable public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Output.Failure == Never {
  /// `switchToLatest` for publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `switchToLatest()` when both can fail.
  @inlinable public func switchToLatest()
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<Output, Failure>, Publishers.Map<Self, Publishers.SetFailureType<Output, Failure>>
    >
  {
    map { $0.setFailureType(to: Failure.self) }.switchToLatest()
  }
}

extension Publisher {
  /// Makes a publisher from each value, delivers the values of the newest publisher, and cancels the previous one.
  ///
  ///     upstream    --a-------b-----|
  ///     flatMapLatest { Timer… }
  ///       a           --1--2--3--|
  ///       b                   --4--5|
  ///     downstream  ----1--2----4--5|
  ///
  /// **Demand:** the outstanding demand passes to each new publisher; everything is requested from upstream.
  /// **Failure:** the first failure, upstream's or the newest publisher's, ends the stream. **Cancellation:** cancels
  /// upstream and the newest publisher. **Policy:** forwards; values that a publisher has not delivered when it is
  /// replaced are lost, by design.
  @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.Map<Self, P>> where P.Failure == Failure {
    map(transform).switchToLatest()
  }

  /// From each value, makes a publisher that cannot fail, and delivers the values of the newest publisher.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapLatest(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  )
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<P, Failure>, Publishers.Map<Self, Publishers.SetFailureType<P, Failure>>
    > where P.Failure == Never
  {
    map { transform($0).setFailureType(to: Failure.self) }.switchToLatest()
  }
}

extension Publisher where Failure == Never {
  /// From each value, makes a publisher that may fail, and delivers the values of the newest publisher.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapLatest(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.SetFailureType<Publishers.Map<Self, P>, P.Failure>> {
    map(transform).switchToLatest()
  }

  /// From each value, makes a publisher that cannot fail, and delivers the values of the newest publisher.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapLatest(_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.Map<Self, P>> where P.Failure == Never {
    map(transform).switchToLatest()
  }
}

extension Publishers {
  /// See `switchToLatest()`.
  @frozen
  public struct SwitchToLatest<
    NestedPublisher: Publisher, Upstream: Publisher<NestedPublisher, NestedPublisher.Failure>
  >: Operator, _JoinsPublishers {
    public typealias Output = NestedPublisher.Output
    public typealias Failure = NestedPublisher.Failure

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.flatten("SwitchToLatest", .replaces, into: subscriber) { $0 }
    }
  }
}
