/// A stage that passes on its events later, on a scheduler: `receive(on:)`, `delay`, `timeout`.
///
/// Every value, and then the completion, joins one queue and schedules one call to `deliverNext()`: the queue sets the
/// order, the scheduler only the time. The demand limits the number of values in the queue. `cancel()` empties the
/// queue, and calls that are still scheduled find nothing to deliver.
///
/// The stage stays live, keeps its upstream, and can be cancelled until the completion has been delivered. Scheduled
/// work reaches the stage through a `Turn`, which is empty when no event waits, and after the scheduled work has been
/// cancelled.
@usableFromInline class ScheduledStage<Input, Failure: Error>: Stage<Input, Failure> {
  @usableFromInline let name: StaticString
  /// Schedules an action for the time at which a value received now is due; returns a cancellable if the scheduler can
  /// cancel it.
  @usableFromInline final let schedule: (@escaping () -> Void) -> (any Cancellable)?
  @usableFromInline final let turn: Turn
  /// Keeps the loop running while work waits on a third-party scheduler.
  @usableFromInline final let hold: CrossedHome?
  /// Calls `deliverNext()` once, if an event is waiting.
  @usableFromInline final let serve: () -> Void
  /// The cancellables of the scheduled work, in the order of the queue.
  @exclusivity(unchecked) @usableFromInline final var works = FIFO<any Cancellable>()
  @exclusivity(unchecked) @usableFromInline final var waiting = FIFO<Input>()
  /// True when upstream may still deliver.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  @exclusivity(unchecked) @usableFromInline final var ending = Subscribers.Completion<Failure>.finished
  /// Checks the thread when the scheduler calls, even in release builds, because a user's scheduler may call on any
  /// thread.
  @exclusivity(unchecked) @usableFromInline final var place = SubjectConfinement()

  /// The reference from scheduled work to the stage: the stage while events wait, and `nil` after that.
  @usableFromInline final class Turn {
    @exclusivity(unchecked) @usableFromInline var stage: ScheduledStage?
    @inlinable init() {}
  }

  @inlinable init(
    _ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, hold: CrossedHome? = nil,
    schedule: @escaping (@escaping () -> Void) -> (any Cancellable)?
  ) {
    self.name = name
    self.hold = hold
    self.schedule = schedule
    let turn = Turn()
    self.turn = turn
    serve = { turn.stage?.deliverNext() }
    super.init(down)
  }

  /// Schedules the delivery of `input`.
  @inlinable final func enqueue(_ input: Input) {
    waiting.append(input)
    scheduleNext()
  }

  @inlinable final func scheduleNext() {
    place.checkScheduled(name)
    turn.stage = self
    if let work = schedule(serve) { works.append(work) }
  }

  /// Schedules the delivery of the completion, after the values.
  @usableFromInline final func enqueue(_ completion: Subscribers.Completion<Failure>) {
    isOpen = false
    ending = completion
    scheduleNext()
  }

  /// Delivers the first event in the queue: a value or, after the last value, the completion.
  @inlinable final func deliverNext() {
    place.checkScheduled(name)
    guard isLive else {
      turn.stage = nil
      return
    }
    if !works.isEmpty { _ = works.popFirst() }
    if let input = waiting.popFirst() {
      if waiting.isEmpty, isOpen { turn.stage = nil }
      let more = down.receive(input)
      if more > .none, isLive { up?.request(more) }
    } else if !isOpen {
      turn.stage = nil
      finish(ending)
    }
  }

  /// Passes on a request for zero values: the publisher that serves the demand decides whether it traps.
  override var takesNone: Bool { true }

  override func forget() {
    if !works.isEmpty { turn.stage = nil }
    while let work = works.popFirst() { work.cancel() }
    // A scheduler that can't cancel work still holds it. Don't let that work keep the loop running.
    hold?.leave()
    waiting.removeAll()
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.held = waiting.count
    facts.waitsForTime = !waiting.isEmpty || !isOpen && isLive
  }

  override var description: String { "\(name)" }
}

/// The stage of `receive(on:)` and `delay`. It is final, as everything on the value path must be. A method that may be
/// overridden is called through the class's vtable and is never specialized (470 instead of 25 ns per value).
@usableFromInline final class ReceiveOnStage<Input, Failure: Error>: ScheduledStage<Input, Failure>, Subscriber {
  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if takesEvents, isOpen { enqueue(input) }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    if takesEvents, isOpen { enqueue(completion) }
  }
}
