/// Delivers values computed on request, each from the state that the previous one left behind.
///
///     Generate(state: 1) { state in
///       defer { state *= 2 }
///       return state < 10 ? state : nil
///     }
///
///     demand      1--2--∞
///     downstream  1--24-8|
///
/// Unlike with `sequence(state:next:).publisher`, operators are applied to values as they pass through, so the stream
/// may be infinite.
///
/// **Demand:** as many values as requested, during the request; one is computed ahead. **Failure:** none.
/// **Cancellation:** immediate. **Policy:** computes the requested values and one more; drops nothing.
@frozen public struct Generate<State, Output>: Publisher, _DeliversAtHome {
  public typealias Failure = Never

  public let state: State
  public let next: (inout State) -> Output?

  /// - Parameters:
  ///   - state: the initial state of every subscription.
  ///   - next: changes the state and returns the next value, or `nil` to finish.
  @inlinable public init(state: State, next: @escaping (inout State) -> Output?) {
    self.state = state
    self.next = next
  }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
    subscriber.attach("Generate", delivering: sequence(state: state, next: next), then: .finished)
  }
}
