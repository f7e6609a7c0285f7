// `take()` empties a variable and returns its value, as `Optional.take()` does. Code that runs because the value is
// released or called then finds the variable empty.

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
