/// A stage that hands on later, on a scheduler, what it receives now: `receive(on:)`, `delay`, `timeout`.
///
/// Every value and the ending join one queue, and each asks the scheduler for one call of `deliverNext()`; so the order is
/// the queue's, and the scheduler's only when. What waits in the queue has been asked for, and is bounded by that.
/// `cancel()` empties the queue, and what the scheduler still calls then finds nothing to deliver.
///
/// The stage stays live, and keeps its upstream, until the ending has been delivered: until then it can be cancelled.
@usableFromInline
class DeferringStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  @usableFromInline
  let name: StaticString
  @usableFromInline
  final let schedule: (@escaping () -> Void) -> Void
  @exclusivity(unchecked)
  @usableFromInline
  final var waiting = FIFO<Input>()
  /// Whether upstream may still deliver.
  @exclusivity(unchecked)
  @usableFromInline
  final var isOpen = true
  @exclusivity(unchecked)
  @usableFromInline
  final var ending = Subscribers.Completion<Failure>.finished

  /// - Parameter schedule: has the scheduler run something when a value received now is due.
  @inlinable
  init(
    _ name: StaticString, _ down: Downstream<Input, Failure>, schedule: @escaping (@escaping () -> Void) -> Void
  ) {
    self.name = name
    self.schedule = schedule
    super.init(down)
  }

  @inlinable
  func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive, isOpen else { return .none }
    waiting.append(input)
    schedule { [self] in deliverNext() }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive, isOpen else { return }
    isOpen = false
    ending = completion
    schedule { [self] in deliverNext() }
  }

  /// Delivers what is first in the queue: a value, or after the last one the ending.
  @inlinable
  final func deliverNext() {
    guard isLive else { return }
    if let input = waiting.popFirst() {
      let more = down.next(input)
      if more > .none, isLive { up?.request(more) }
    } else if !isOpen {
      finish(ending)
    }
  }

  /// Passed on unjudged: it is the publisher that serves the demand who says what it may be.
  @usableFromInline
  override func request(_ demand: Subscribers.Demand) { up?.request(demand) }

  @usableFromInline
  override func cancel() {
    // Before the subscription there is nothing to cancel, and nobody who could.
    guard isLive else { return }
    super.cancel()
    let dropped = waiting
    waiting = FIFO()
    withExtendedLifetime(dropped) {}
  }

  @usableFromInline
  override var description: String { "\(name)" }
}
