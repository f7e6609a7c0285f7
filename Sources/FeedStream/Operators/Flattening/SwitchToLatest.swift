extension Publisher where Output: Publisher, Output.Failure == Failure {
  /// Delivers the values of the newest publisher received, cancelling the one before.
  ///
  ///     upstream    --a-------b-----|
  ///       a           --1--2--3--|
  ///       b                   --4--5|
  ///     downstream  ----1--2----4--5|
  ///
  /// ![map { answers($0) }.switchToLatest()](marbles-switchToLatest.svg)
  ///
  /// Finishes when upstream and the newest publisher have. **Demand:** what the last publisher left unused is asked of
  /// the next; upstream is asked for everything. **Failure:** the first, upstream's or the newest publisher's.
  /// **Cancellation:** cancels both. Policy: forwards; what a publisher has not delivered when the next takes over is
  /// not waited for, by design.
  @inlinable public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Failure == Never {
  /// Delivers the values of the newest publisher, which may fail, of a stream that cannot.
  ///
  /// **Demand, failure, cancellation, policy:** as in `switchToLatest()` where both may fail.
  @inlinable
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Publishers.SetFailureType<Self, Output.Failure>> {
    Publishers.SwitchToLatest(upstream: setFailureType(to: Output.Failure.self))
  }
}

extension Publisher where Output: Publisher, Failure == Never, Output.Failure == Never {
  /// Delivers the values of the newest publisher received, where nothing can fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `switchToLatest()` where both may fail.
  @inlinable public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Output.Failure == Never {
  /// Delivers the values of the newest publisher, which cannot fail, of a stream that may.
  ///
  /// **Demand, failure, cancellation, policy:** as in `switchToLatest()` where both may fail.
  @inlinable public func switchToLatest()
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<Output, Failure>, Publishers.Map<Self, Publishers.SetFailureType<Output, Failure>>
    >
  {
    map { $0.setFailureType(to: Failure.self) }.switchToLatest()
  }
}

extension Publisher {
  /// Makes a publisher of each value and delivers the values of the newest, cancelling the one before.
  ///
  ///     upstream    --a-------b-----|
  ///     flatMapLatest { Timer… }
  ///       a           --1--2--3--|
  ///       b                   --4--5|
  ///     downstream  ----1--2----4--5|
  ///
  /// **Demand:** what the last publisher left unused is asked of the next; upstream is asked for everything.
  /// **Failure:** the first, upstream's or the newest publisher's. **Cancellation:** cancels both. Policy: forwards;
  /// what a publisher has not delivered when the next takes over is not waited for, by design.
  @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.Map<Self, P>> where P.Failure == Failure {
    map(transform).switchToLatest()
  }

  /// Makes a publisher that cannot fail of each value and delivers the values of the newest.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapLatest(_:)` where both may fail.
  @inlinable public func flatMapLatest<P: Publisher>(
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
  /// Makes a publisher that may fail of each value and delivers the values of the newest.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapLatest(_:)` where both may fail.
  @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.SetFailureType<Publishers.Map<Self, P>, P.Failure>> {
    map(transform).switchToLatest()
  }

  /// Makes a publisher that cannot fail of each value and delivers the values of the newest.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMapLatest(_:)` where both may fail.
  @inlinable public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.Map<Self, P>> where P.Failure == Never {
    map(transform).switchToLatest()
  }
}

extension Publishers {
  /// See `switchToLatest()`.
  @frozen public struct SwitchToLatest<NestedPublisher: Publisher, Upstream: Publisher>: Publisher
  where Upstream.Output == NestedPublisher, Upstream.Failure == NestedPublisher.Failure {
    public typealias Output = NestedPublisher.Output
    public typealias Failure = NestedPublisher.Failure

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.flatten("SwitchToLatest", .replaces, into: subscriber) { $0 }
    }
  }
}
