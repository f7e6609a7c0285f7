extension Publisher {
  /// Delivers all values as one array, when upstream finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     collect()
  ///     downstream  -----------[a,b,c]|
  ///
  /// **Demand:** requests everything from upstream; the result waits for demand. **Failure:** passes through; the kept
  /// values are dropped and reported. **Cancellation:** passes through. **Policy:** keeps every value, without limit.
  @inlinable public func collect() -> Publishers.Collect<Self> { Publishers.Collect(upstream: self) }
}

extension Publishers {
  /// See ``Publisher/collect()``.
  @frozen public struct Collect<Upstream: Publisher>: Operator {
    public typealias Output = [Upstream.Output]

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: ReduceStage<Upstream.Output, Output, NonThrowing<Failure>>(
          "Collect", ErasedSubscriber(subscriber), [], keepsValues: true
        ) { values, value in
          values!.append(value)
          return false
        })
    }
  }
}

extension Publishers.Collect: Equatable where Upstream: Equatable {}
