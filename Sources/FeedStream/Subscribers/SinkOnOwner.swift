extension Publisher {
  /// Subscribes closures that work on `owner`, without keeping it alive.
  ///
  ///     feed.sink(on: self) { list, images in list.show(images) }.store(in: &cancellables)
  ///
  /// **Demand:** unlimited, at once. **Lifetime:** `owner` is held weakly, so it may keep what this returns; a value or
  /// an ending that finds it gone cancels the subscription and reaches nobody. **Failure:** without `receiveCompletion` a
  /// failure goes to ``StreamDiagnostics/onUnhandledFailure(_:)``.
  ///
  /// - Parameters:
  ///   - owner: handed to the closures, so that they need not capture it.
  ///   - receiveCompletion: told of the ending.
  ///   - receiveValue: told of each value.
  /// - Returns: cancels the subscription when cancelled or released; keep it.
  @inlinable public func sink<Owner: AnyObject>(
    on owner: Owner, receiveCompletion: ((Owner, Subscribers.Completion<Failure>) -> Void)? = nil,
    receiveValue: @escaping (Owner, Output) -> Void
  ) -> AnyCancellable {
    let handle = OwnerHandle(owner)
    let sink = Subscribers.Sink<Output, Failure>(
      receiveCompletion: { completion in
        if let receiveCompletion {
          if let owner = handle.owner { receiveCompletion(owner, completion) }
        } else if case .failure(let error) = completion {
          StreamDiagnostics.unhandled(error, "Sink")
        }
      },
      receiveValue: { value in
        if let owner = handle.owner { receiveValue(owner, value) } else { handle.sink?.cancel() }
      })
    handle.sink = sink
    subscribe(sink)
    return AnyCancellable(sink)
  }
}

/// What the closures of a weak-owner sink capture.
@usableFromInline final class OwnerHandle<Owner: AnyObject> {
  @usableFromInline private(set) weak var owner: Owner?
  /// Weak, for the sink keeps the closures, and they keep this.
  @usableFromInline weak var sink: (any AnyObject & Cancellable)?

  @usableFromInline init(_ owner: Owner) { self.owner = owner }
}
