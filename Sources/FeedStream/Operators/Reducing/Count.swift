extension Publisher {
  /// Delivers the number of values, when upstream finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     count()
  ///     downstream  -----------3|
  ///
  /// ![count()](marbles-count.svg)
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through, without a
  /// count. **Cancellation:** passes through. **Policy:** keeps the count.
  @inlinable public func count() -> Publishers.Count<Self> { Publishers.Count(upstream: self) }
}

extension Publishers {
  /// See ``Publisher/count()``.
  @frozen public struct Count<Upstream: Publisher>: Operator {
    public typealias Output = Int

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Int, NonThrowing<Failure>>(
          "Count", ErasedSubscriber(subscriber), 0
        ) { count, _ in
          count! += 1
          return false
        })
    }
  }
}

extension Publishers.Count: Equatable where Upstream: Equatable {}
