/// Joins several upstreams into one subscriber: the root of the stages that merge, pair, race, or play one after
/// another.
///
/// It holds the subscriber, the demand and the completion. Requests and cancellation come through ``GuardedSubscription``'s
/// gate. A subclass implements a request (`requested`, harmless when the stream is over) and the cancellation
/// (`cancelUpstreams`).
@usableFromInline class Junction<Output, Failure: Error>: GuardedSubscription {
  @usableFromInline final let name: StaticString
  @usableFromInline final let down: ErasedSubscriber<Output, Failure>
  /// The demand requested and not yet served.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  /// True until the cancellation or the completion.
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false

  @inlinable init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    self.down = down
  }

  /// Cancels the upstreams and releases the waiting values: the stream is cancelled, or about to end. It runs again
  /// when a stream that is over is cancelled.
  @usableFromInline func cancelUpstreams() {}

  // MARK: The subscriber's side

  @usableFromInline override var takesNone: Bool { !isActive }

  @usableFromInline final override func cancelled() {
    isActive = false
    isCancelled = true
    cancelUpstreams()
  }

  /// Cancels what is still running and delivers the completion, once.
  @inlinable final func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    isActive = false
    cancelUpstreams()
    // The subscriber may have cancelled in the meantime.
    if !isCancelled { down.receive(completion: completion) }
  }

  // MARK: Descriptions

  @usableFromInline final override var description: String { "\(name)" }
}

extension Junction: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
