// `take()` empties a variable and returns its value, as `Optional.take()` does. Code that runs when the value is
// released or called then finds the variable empty.
//
// An assignment may release the old value before the variable holds the new one. The old value's `deinit` may cancel
// the stream, whose stage would then release the old value again. A stage therefore takes a subscriber's values out of
// its properties, with `exchange(_:with:)` or `take()`, and releases them with `discard(_:)`, or with
// `withExtendedLifetime(_:_:)` after the next value has been delivered.

/// Releases `old`, which has been taken out of a variable, after the variable has changed: without this call, the
/// optimizer may release it earlier.
@inlinable @inline(__always) func discard<Value>(_ old: Value) { withExtendedLifetime(old) {} }

extension RangeReplaceableCollection {
  @inlinable mutating func take() -> Self {
    defer { self = Self() }
    return self
  }
}

extension Dictionary {
  @inlinable mutating func take() -> Self {
    defer { self = [:] }
    return self
  }
}
