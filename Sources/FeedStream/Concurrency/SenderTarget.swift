/// The stream's end of a sender, used only at the stream's home.
@usableFromInline struct SenderTarget<Output, Failure: Error> {
  @usableFromInline let deliver: (Output) -> Void
  @usableFromInline let deliverTold: (Output) -> Delivery
  @usableFromInline let end: (Subscribers.Completion<Failure>) -> Void
  @usableFromInline let state: SenderTargetState

  @inlinable init(
    deliver: @escaping (Output) -> Void, deliverTold: @escaping (Output) -> Delivery,
    end: @escaping (Subscribers.Completion<Failure>) -> Void, state: SenderTargetState
  ) {
    self.deliver = deliver
    self.deliverTold = deliverTold
    self.end = end
    self.state = state
  }
}

/// The part of the target's state that a sender needs.
@usableFromInline struct SenderTargetState {
  /// True if there is demand for a value.
  let isWanted: () -> Bool
  /// True if there is a subscriber that waits for values.
  let isAlive: () -> Bool
  let isEnded: () -> Bool
  /// Registers a function that is called when any of the above may have changed; `nil` removes it.
  let watch: (_ key: ObjectIdentifier, _ changed: (() -> Void)?) -> Void
}
