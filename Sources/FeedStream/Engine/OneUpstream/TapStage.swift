public import Synchronization

/// The stage of `handleEvents` and `print`: it reports every event that passes, without changing the event.
///
/// It also passes on every event from a misbehaving upstream, for inspection, and shows upstream's own subscription.
/// That is why the stage has no gate below a publisher with threads of its own.
@usableFromInline final class TapStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  /// An event other than a value.
  @usableFromInline enum Event {
    case subscription(any Subscription)
    case completion(Subscribers.Completion<Failure>)
    case cancel
    case request(Subscribers.Demand)
    /// Demand that the subscriber returned after a value.
    case answer(Subscribers.Demand)
  }

  @usableFromInline let name: StaticString
  @usableFromInline let reportsAfterEnd: Bool
  @usableFromInline let report: (Event) -> Void
  @usableFromInline let reportsValues: Bool
  // Not optional: unwrapping a closure retains it for the call.
  @usableFromInline let onValue: (Input) -> Void
  /// Atomic, because one thread may cancel while a user's publisher delivers on another.
  @usableFromInline let reporting = Atomic(true)

  /// - Parameter reportsAfterEnd: true to continue reporting after the first completion or cancellation.
  @inlinable init(
    _ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, reportsAfterEnd: Bool, onValue: ((Input) -> Void)?,
    report: @escaping (Event) -> Void
  ) {
    self.name = name
    self.reportsAfterEnd = reportsAfterEnd
    reportsValues = onValue != nil
    self.onValue = onValue ?? { _ in }
    self.report = report
    super.init(down)
  }

  @inlinable var isReporting: Bool {
    @inline(__always) get { reporting.load(ordering: .relaxed) }
  }

  @usableFromInline override func receive(subscription: any Subscription) {
    if isReporting { report(.subscription(subscription)) }
    super.receive(subscription: subscription)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if reportsValues, isReporting {
      let wasLive = takesEvents
      onValue(input)
      // Stop if the closure has cancelled the stream.
      if wasLive, !isLive { return .none }
    }
    let more = down.receive(input)
    if more > .none { reportAnswer(more) }
    return more
  }

  @inline(never) @usableFromInline func reportAnswer(_ demand: Subscribers.Demand) {
    if isReporting { report(.answer(demand)) }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    let (wasLive, wasReporting) = (takesEvents, isReporting)
    // Set this first, because the closure may call back into the stage.
    reporting.store(reportsAfterEnd, ordering: .relaxed)
    if wasReporting { report(.completion(completion)) }
    // Stop if the closure has cancelled the stream.
    if wasLive, !isLive { return }
    phase = .ended
    releaseUpstream()
    down.receive(completion: completion)
  }

  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) {
    if isReporting { report(.request(demand)) }
    up?.request(demand)
  }

  override func cancelled() {
    let wasReporting = isReporting
    if isLive { reporting.store(reportsAfterEnd, ordering: .relaxed) }
    if wasReporting { report(.cancel) }
    super.cancelled()
  }

  override func cancelledFromElsewhere() {
    report(.cancel)
    super.cancelledFromElsewhere()
  }

  override var description: String { "\(name)" }
}
