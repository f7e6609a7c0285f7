// Compiler messages for subscribers that need a stream that cannot fail. These overloads are disfavored: the compiler
// chooses one only if no other overload fits.
extension Publisher {
  @available(
    *, unavailable,
    message:
      "this stream can fail; use sink(receiveCompletion:receiveValue:), or handle the failure first, with catch or replaceError(with:)"
  )
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable { fatalError("unavailable") }

  @available(
    *, unavailable, message: "this stream can fail; handle the failure first, with catch or replaceError(with:)"
  )
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func assign<Root>(
    to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root
  ) -> AnyCancellable { fatalError("unavailable") }

  @available(
    *, unavailable, message: "this stream can fail; handle the failure first, with catch or replaceError(with:)"
  )
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func assign(to published: inout Published<Output>.Publisher) { fatalError("unavailable") }
}
