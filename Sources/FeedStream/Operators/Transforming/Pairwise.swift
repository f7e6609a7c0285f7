extension Publisher {
  /// Delivers each value with the one before it.
  ///
  ///     upstream    --a--b----c----|
  ///     pairwise()
  ///     downstream  -----(a,b)(b,c)|
  ///
  /// **Demand:** passes through; one more value is requested after the first, because no value precedes the first.
  /// **Failure, cancellation:** pass through. **Policy:** keeps one value.
  @inlinable public func pairwise() -> Publishers.Pairwise<Self> { Publishers.Pairwise(upstream: self) }
}

extension Publishers {
  /// See ``Publisher/pairwise()``.
  @frozen public struct Pairwise<Upstream: Publisher>: Operator {
    public typealias Output = (Upstream.Output, Upstream.Output)

    public let upstream: Upstream

    @inlinable public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      if S.isFused {
        upstream.receive(subscriber: PairwiseStage<Upstream.Output, _>(subscriber.erased))
      } else {
        upstream.receive(subscriber: PairwiseStage<Upstream.Output, _>(subscriber))
      }
    }
  }
}

extension Publishers.Pairwise: Equatable where Upstream: Equatable {}

@frozen @usableFromInline
struct PairwiseStage<Input, Downstream: Subscriber>: FusedStage where Downstream.Input == (Input, Input) {
  @usableFromInline let downstream: Downstream
  @usableFromInline let last = Box<Input?>(nil)

  @inlinable init(_ downstream: Downstream) { self.downstream = downstream }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    let last = self.last.value
    self.last.value = input
    guard let last else { return .max(1) }
    return downstream.receive((last, input))
  }
}
