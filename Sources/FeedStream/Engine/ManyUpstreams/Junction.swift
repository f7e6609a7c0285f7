/// Several upstreams into one subscriber: the root of the stages that merge, pair, race, or play one after another.
///
/// It holds what they share: the subscriber, the demand and the ending. Requests and cancellation come through
/// ``GuardedSubscription``'s gate. A subclass says what a request means (`requested`, harmless when the stream is over)
/// and what there is to cancel (`cancelUpstreams`).
@usableFromInline class Junction<Output, Failure: Error>: GuardedSubscription {
  @usableFromInline final let name: StaticString
  @usableFromInline final let down: ErasedSubscriber<Output, Failure>
  /// Asked for and not delivered.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  /// Not cancelled, and not ended.
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false

  @inlinable init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    self.down = down
  }

  /// Cancels the upstreams and releases what waits: the stream was cancelled, or is about to end. Runs again when a
  /// stream that is over is cancelled.
  @usableFromInline func cancelUpstreams() {}

  // MARK: The subscriber's side

  @usableFromInline override var takesNone: Bool { !isActive }

  @usableFromInline final override func cancelled() {
    isActive = false
    isCancelled = true
    cancelUpstreams()
  }

  /// Cancels what still runs and delivers the ending, once.
  @inlinable final func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    isActive = false
    cancelUpstreams()
    // The subscriber may have cancelled in answer to that.
    if !isCancelled { down.receive(completion: completion) }
  }

  // MARK: What a person sees

  @usableFromInline final override var description: String { "\(name)" }
}

extension Junction: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
