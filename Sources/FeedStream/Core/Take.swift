// `take()` empties a place and returns what was there, as `Optional` has it: whatever a release or a call then leads to
// finds the place empty.

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
