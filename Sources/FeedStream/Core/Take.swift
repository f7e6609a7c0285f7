// `take()` empties a variable and returns its value, as `Optional` does. Whatever a release or a call then leads to
// finds the variable empty.

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
