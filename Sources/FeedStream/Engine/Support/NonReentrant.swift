/// State that a stage lends to a closure, which may change it: whoever comes back meanwhile does not find it.
@frozen @usableFromInline struct NonReentrant<Value> {
  /// `nil` while it is lent.
  @usableFromInline private(set) var value: Value?

  @inlinable init(_ value: Value) { self.value = value }

  /// Takes the state out, to be given back; traps when it is out already.
  @inlinable mutating func enter(for operatorName: @autoclosure () -> String) -> Value {
    guard let taken = value else {
      preconditionFailure(
        "\(operatorName()): a value arrived while the closure was at work on the one before; send it afterwards")
    }
    value = nil
    return taken
  }

  @inlinable mutating func leave(_ taken: Value) { value = taken }
}
