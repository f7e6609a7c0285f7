/// A stage that passes on what it receives later, on a scheduler: `receive(on:)`, `delay`, `timeout`.
///
/// Every value and the ending join one queue, and each schedules one call of `deliverNext()`: the queue sets the order,
/// the scheduler only the time. The values in the queue have been asked for, which bounds their number. `cancel()`
/// empties the queue, and calls that are still scheduled find nothing to deliver.
///
/// The stage stays live, and keeps its upstream, until the ending has been delivered: until then it can be cancelled.
@usableFromInline class ScheduledStage<Input, Failure: Error>: Stage<Input, Failure> {
  @usableFromInline let name: StaticString
  @usableFromInline final let schedule: (@escaping () -> Void) -> Void
  @exclusivity(unchecked) @usableFromInline final var waiting = FIFO<Input>()
  /// True when upstream may still deliver.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  @exclusivity(unchecked) @usableFromInline final var ending = Subscribers.Completion<Failure>.finished

  /// - Parameter schedule: schedules an action for the time at which a value received now is due.
  @inlinable init(
    _ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, schedule: @escaping (@escaping () -> Void) -> Void
  ) {
    self.name = name
    self.schedule = schedule
    super.init(down)
  }

  /// Schedules the delivery of `input`.
  @inlinable final func enqueue(_ input: Input) {
    waiting.append(input)
    schedule { [self] in deliverNext() }
  }

  /// Schedules the delivery of the ending, after the values.
  @usableFromInline final func enqueue(_ completion: Subscribers.Completion<Failure>) {
    isOpen = false
    ending = completion
    schedule { [self] in deliverNext() }
  }

  /// Delivers the first in the queue: a value, or after the last one the ending.
  @inlinable final func deliverNext() {
    guard isLive else { return }
    if let input = waiting.popFirst() {
      let more = down.receive(input)
      if more > .none, isLive { up?.request(more) }
    } else if !isOpen {
      finish(ending)
    }
  }

  /// A request for none is passed on: the publisher that serves the demand decides what it may be.
  override var takesNone: Bool { true }

  override func cancelled() {
    super.cancelled()
    let dropped = waiting
    waiting = FIFO()
    withExtendedLifetime(dropped) {}
  }

  override var description: String { "\(name)" }
}

/// The stage of `receive(on:)` and `delay`. Final, as everything on the value path must be: a method that may be
/// overridden is called through the class's vtable, and never specialized (470 instead of 25 ns a value).
@usableFromInline final class ReceiveOnStage<Input, Failure: Error>: ScheduledStage<Input, Failure>, Subscriber {
  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if isLive, isOpen { enqueue(input) }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    if isLive, isOpen { enqueue(completion) }
  }
}
