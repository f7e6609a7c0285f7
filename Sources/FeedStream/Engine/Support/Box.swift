/// A reference to state whose type is a value type.
@usableFromInline final class Box<Value> {
  @exclusivity(unchecked) @usableFromInline var value: Value

  @inlinable init(_ value: Value) { self.value = value }
}
