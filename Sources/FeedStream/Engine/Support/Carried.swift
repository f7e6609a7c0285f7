/// A value in transit from the task that made it to the stream's home.
// @unchecked: the task gives the value away permanently, as the initializer's `sending` requires.
package struct Carried<Value>: @unchecked Sendable {
  package let value: Value
  package init(_ value: consuming sending Value) { self.value = value }

  /// Carries a value without a check: the caller ensures that only one thread at a time uses it.
  init(uncheckedly value: Value) { self.value = value }
}
