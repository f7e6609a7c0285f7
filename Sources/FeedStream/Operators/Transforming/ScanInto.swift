extension Publisher {
  /// Updates a result in place with each value, and delivers every intermediate result.
  ///
  ///     upstream    --1----2------3--------|
  ///     scan(into: []) { $0.append($1) }
  ///     downstream  --[1]--[1,2]--[1,2,3]--|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func scan<T>(
    into initialResult: T, _ updateResult: @escaping (inout T, Output) -> Void
  ) -> Publishers.Accumulate<Self, T, T> {
    Publishers.Accumulate(upstream: self, initial: initialResult) {
      updateResult(&$0, $1)
      return $0
    }
  }

  /// Delivers each value with its index in the stream, counted from zero.
  ///
  ///     upstream    --a----b----c----|
  ///     enumerated()
  ///     downstream  --(0,a)(1,b)(2,c)|
  ///
  /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
  @inlinable public func enumerated() -> Publishers.Accumulate<Self, Int, (offset: Int, element: Output)> {
    Publishers.Accumulate(upstream: self, initial: 0) {
      let offset = $0
      $0 = offset + 1
      return (offset, $1)
    }
  }
}

extension Publishers {
  /// A `map` whose closure has its own state in each subscription: see ``Publisher/scan(into:_:)`` and
  /// ``Publisher/enumerated()``.
  @frozen public struct Accumulate<Upstream: Publisher, State, Output>: Operator {
    public let upstream: Upstream
    public let initial: State
    public let next: (inout State, Upstream.Output) -> Output

    @inlinable
    public init(upstream: Upstream, initial: State, next: @escaping (inout State, Upstream.Output) -> Output) {
      self.upstream = upstream
      self.initial = initial
      self.next = next
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let state = Box(NonReentrant(initial))
      if S.isFused {
        upstream.receive(subscriber: AccumulateStage(subscriber.erased, state, next))
      } else {
        upstream.receive(subscriber: AccumulateStage(subscriber, state, next))
      }
    }
  }
}

@frozen @usableFromInline struct AccumulateStage<Input, State, Downstream: Subscriber>: FusedStage {
  @usableFromInline let downstream: Downstream
  @usableFromInline let state: Box<NonReentrant<State>>
  @usableFromInline let next: (inout State, Input) -> Downstream.Input

  @inlinable
  init(
    _ downstream: Downstream, _ state: Box<NonReentrant<State>>,
    _ next: @escaping (inout State, Input) -> Downstream.Input
  ) {
    self.downstream = downstream
    self.state = state
    self.next = next
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    var taken = state.value.enter(for: "scan(into:)")
    let output = next(&taken, input)
    state.value.leave(taken)
    return downstream.receive(output)
  }
}
