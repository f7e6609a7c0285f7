extension Publisher {
  /// Subscribes closures that work on `owner`, without retaining it.
  ///
  ///     final class List {
  ///       var cancellables: Set<AnyCancellable> = []
  ///       func show(_ images: [String]) { print(images) }
  ///
  ///       func follow(_ feed: AnyPublisher<[String], Never>) {
  ///         feed.sink(on: self) { list, images in list.show(images) }.store(in: &cancellables)
  ///       }
  ///     }
  ///
  /// **Demand:** requests everything immediately. **Lifetime:** `owner` is held weakly, so it may keep the returned
  /// cancellable. Once the owner has been released, neither closure is called, and the next value cancels the
  /// subscription.
  /// **Failure:** without `receiveCompletion`, a failure goes to ``StreamDiagnostics/onUnhandledFailure(_:)``.
  ///
  /// - Parameters:
  ///   - owner: passed to the closures, so that they needn't capture it.
  ///   - receiveCompletion: receives the completion.
  ///   - receiveValue: receives each value.
  ///   - file: identifies the subscription in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that cancels the subscription when it is cancelled or released; keep it.
  @inlinable public func sink<Owner: AnyObject>(
    on owner: Owner, receiveCompletion: ((Owner, Subscribers.Completion<Failure>) -> Void)? = nil,
    receiveValue: @escaping (Owner, Output) -> Void, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable {
    let watch = SubscriptionWatch.begin(file, line)
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
    return AnyCancellable(sink, watch)
  }
}

/// Holds the values that the closures of a weak-owner sink capture.
@usableFromInline final class OwnerHandle<Owner: AnyObject> {
  @usableFromInline private(set) weak var owner: Owner?
  /// Weak, because the sink retains the closures, and the closures retain this handle.
  @usableFromInline weak var sink: (any AnyObject & Cancellable)?

  @usableFromInline init(_ owner: Owner) { self.owner = owner }
}
