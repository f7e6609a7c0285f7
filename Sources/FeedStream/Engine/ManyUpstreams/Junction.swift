/// Several upstreams into one subscriber: the root of the stages that merge, pair, race, or play one after another.
///
/// It holds what they share: the subscriber, the demand, and the gate through which the subscriber asks and cancels. A
/// subclass says what a request means (`requested`) and what there is to cancel (`cancelled`); the checks stand in
/// front of both, so that no stage can leave them out.
@usableFromInline
class Junction<Output, Failure: Error>: Subscription, CustomStringConvertible, CustomPlaygroundDisplayConvertible,
  CustomReflectable
{
  @usableFromInline final let name: StaticString
  @usableFromInline final let down: ErasedSubscriber<Output, Failure>
  /// Asked for and not delivered.
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  /// Not cancelled, and not ended.
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false
  @exclusivity(unchecked) @usableFromInline final var confinement = Confinement()

  @inlinable init(_ name: StaticString, _ down: ErasedSubscriber<Output, Failure>) {
    self.name = name
    self.down = down
  }

  // MARK: What a subclass says

  /// The subscriber asks for this much more.
  @usableFromInline func requested(_ demand: Subscribers.Demand) {}

  /// Cancels the upstreams and releases what waits: the stream was cancelled, or is about to end. Runs again when a
  /// stream that is over is cancelled.
  @usableFromInline func cancelled() {}

  /// True where a request for none does not trap (`CONTRACT.md`, rule 3).
  @usableFromInline var takesNone: Bool { false }

  // MARK: The subscriber's side

  @inlinable final func request(_ demand: Subscribers.Demand) {
    confinement.check(name)
    guard isActive else { return }
    if demand == .none, !takesNone { demand.assertPositive(self) }
    requested(demand)
  }

  @inlinable final func cancel() {
    confinement.check(name)
    isActive = false
    isCancelled = true
    cancelled()
  }

  /// Cancels what still runs and delivers the ending, once.
  @inlinable final func end(_ completion: Subscribers.Completion<Failure>) {
    guard isActive else { return }
    isActive = false
    cancelled()
    // The subscriber may have cancelled in answer to that.
    if !isCancelled { down.receive(completion: completion) }
  }

  // MARK: What a person sees

  @usableFromInline final var description: String { "\(name)" }
  @usableFromInline final var playgroundDescription: Any { description }
  @usableFromInline final var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

extension Junction: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
