/// State that a stage passes to a closure, which may change it. Meanwhile, reentrant calls can't access the state.
@frozen @usableFromInline struct NonReentrant<Value> {
  /// The state; `nil` while the closure has it.
  @usableFromInline private(set) var value: Value?

  @inlinable init(_ value: Value) { self.value = value }

  /// Takes the state out; traps if it is already out. Put it back with `leave`.
  @inlinable mutating func enter(for operatorName: @autoclosure () -> String) -> Value {
    guard let taken = value else { haltReentry(of: operatorName()) }
    value = nil
    return taken
  }

  @inlinable mutating func leave(_ taken: Value) { value = taken }
}

/// Stops the program because a value arrived while an operator's closure was changing the operator's state.
@inline(never) @usableFromInline func haltReentry(of operatorName: String) -> Never {
  preconditionFailure(
    "\(operatorName): a value arrived while the closure was handling the previous one; send it afterwards")
}
