/// A value in transit from the task that made it to the stream's home.
// @unchecked: the task hands it over permanently, as `sending` says where it is made.
struct Carried<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: consuming sending Value) { self.value = value }

  /// It is for a caller that knows that it runs on one thread at a time, as the user of a queue guarantees.
  init(uncheckedly value: Value) { self.value = value }
}
