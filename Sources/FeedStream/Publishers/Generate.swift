extension Publishers {
  /// Delivers values computed one from the other, each when it is asked for.
  ///
  ///     Publishers.Generate(state: 1) { state in
  ///       defer { state *= 2 }
  ///       return state < 1_000 ? state : nil
  ///     }
  ///
  ///     demand      1-2---unlimited
  ///     downstream  1-24--8…512|
  ///
  /// Unlike `sequence(state:next:).publisher`, operators on it are applied as values pass, so that it may be endless.
  ///
  /// **Demand:** as many as asked for, in the call that asks; one is computed ahead. **Failure:** none.
  /// **Cancellation:** at once. **Policy:** computes what is asked for, and that one; nothing is dropped.
  @frozen public struct Generate<State, Output>: Publisher {
    public typealias Failure = Never

    public let state: State
    public let next: (inout State) -> Output?

    /// - Parameters:
    ///   - state: where every subscription starts.
    ///   - next: moves the state on and gives the next value; `nil` finishes.
    @inlinable public init(state: State, next: @escaping (inout State) -> Output?) {
      self.state = state
      self.next = next
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      subscriber.attach("Generate", delivering: sequence(state: state, next: next), then: .finished)
    }
  }
}
