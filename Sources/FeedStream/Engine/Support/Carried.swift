/// A value on its way from the task that made it to the stream's home.
// @unchecked: the task hands it over permanently, as `sending` says where it is made.
struct Carried<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: consuming sending Value) { self.value = value }

  /// For a caller that knows that it runs on one thread at a time, as the user of a queue promises.
  init(uncheckedly value: Value) { self.value = value }
}
