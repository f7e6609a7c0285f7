/// Runs one publisher at a time, each made from one of upstream's values: the stage of `switchToLatest`, `flatMapFirst`
/// and `concatMap`. These operators differ in their treatment of a value that arrives while a publisher runs.
@usableFromInline
final class FlatteningStage<Input, Output, Failure: Error>: SequentialStage<Output, Failure>, Subscriber {
  /// Makes a publisher from a value, and subscribes the given inlet to it; without an inlet, the stage takes the
  /// publisher.
  @usableFromInline let attach: (Input, FlatteningStage, Upstream?) -> Void
  @usableFromInline let whenBusy: WhenBusy
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  @exclusivity(unchecked) @usableFromInline var isFinished = false
  /// True if the subscriber receives its subscription only when upstream's subscription arrives.
  @exclusivity(unchecked) private var beginsLate = false
  /// Upstream's events.
  private let line = EventLine()
  /// True when `switchToLatest` has passed on upstream's completion. As in Combine, a second completion, which breaks
  /// the rules, is passed on too.
  @exclusivity(unchecked) private var endsWithUpstream = false
  /// True while a publisher runs, or is about to run.
  @exclusivity(unchecked) @usableFromInline var isBusy = false
  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<Input>()

  @inlinable init<P: Publisher>(
    _ name: StaticString, _ down: ErasedSubscriber<Output, Failure>, _ whenBusy: WhenBusy,
    _ make: @escaping (Input) -> P
  ) where P.Output == Output, P.Failure == Failure {
    self.whenBusy = whenBusy
    attach = { input, stage, inlet in
      let publisher = make(input)
      if let inlet { publisher.receive(subscriber: inlet) } else { stage.take(publisher) }
    }
    super.init(name, down)
  }

  @usableFromInline func receive(subscription: any Subscription) {
    // Any thread may request and cancel: the gate moves both to the queue.
    if gate.follow() { confinement = .anywhere } else { subscription.join(gate) }
    guard entry.enter() else { return bring(ArrivingSubscription.event(subscription, accept)) }
    accept(subscription)
    entry.leave()
  }

  @inline(never) @usableFromInline func bring(_ event: @escaping () -> Void) {
    line.add(event) { gate.perform($0) }
  }

  private func accept(_ subscription: any Subscription) {
    guard isActive, up == nil, !isFinished else { return subscription.cancel() }
    up = subscription
    if beginsLate { down.receive(subscription: self) }
    if isActive { subscription.request(.unlimited) }
  }

  @inline(never) @usableFromInline func begin(_ subscribe: () -> Void) {
    beginsLate = true
    subscribe()
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard entry.enter() else {
      bring { [self] in arrived(input) }
      return .none
    }
    arrived(input)
    entry.leave()
    return .none
  }

  @inlinable func arrived(_ input: Input) {
    guard isActive, !isFinished else { return }
    switch whenBusy {
    case .isDropped where isBusy: StreamDiagnostics.dropped(input, name, .busy)
    case .waits where isBusy: waiting.append(input)
    default: start(input)
    }
  }

  @inlinable func start(_ input: Input) {
    isBusy = true
    if isSubscribing { subscribe { [self] in attach(input, self, $0) } } else { attach(input, self, nil) }
  }

  /// Replaces the current publisher with `publisher`. Don't call this while the stage is subscribing. With unlimited
  /// demand, a sequence or a `Just` delivers without a subscription, which saves three allocations.
  @inlinable func take<P: Publisher<Output, Failure>>(_ publisher: P) {
    // Set this before the cancellation, which may call back into the stage.
    isSubscribing = true
    current.take()?.cancel()
    if isTaking {
      let isDelivered =
        demand == .unlimited
        && publisher._deliverAll {
          if isTaking { _ = pass($0) }
          return isTaking
        }
      if isDelivered {
        if isTaking { finished() }
      } else {
        let inlet = Upstream(self)
        current = inlet
        gate.atHome { publisher.receive(subscriber: inlet) }
      }
    }
    subscribeToUpcoming()
  }

  /// True while the publisher is still needed: nothing has cancelled it, and no other upstream has replaced it.
  @inlinable var isTaking: Bool { isActive && upcoming == nil }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard entry.enter() else { return bring { [self] in upstreamEnded(completion) } }
    upstreamEnded(completion)
    entry.leave()
  }

  private func upstreamEnded(_ completion: Subscribers.Completion<Failure>) {
    if endsWithUpstream, !isCancelled { return down.receive(completion: completion) }
    guard isActive, !isFinished else { return }
    discard(up.take())
    isFinished = true
    if case .finished = completion, isBusy { return }
    reportWaiting()
    endsWithUpstream = whenBusy == .replaces
    end(completion)
  }

  override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .finished = completion else {
      reportWaiting()
      return end(completion)
    }
    finished()
  }

  /// Called when the current publisher has finished.
  @inlinable func finished() {
    isBusy = false
    // Don't use `isEmpty`: in unspecialized code, it would look up the queue's type.
    if waiting.count > 0, let next = waiting.popFirst() { return start(next) }
    if isFinished { end(.finished) }
  }

  /// Reports the waiting values as dropped, because a failure precedes them.
  private func reportWaiting() {
    while let input = waiting.popFirst() { StreamDiagnostics.dropped(input, name, .terminated) }
  }

  /// `switchToLatest` ignores a late subscription, as in Combine.
  override var leavesLate: Bool { whenBusy == .replaces }

  override var takesNone: Bool { !isActive }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += [up].compactMap { $0 }
    facts.held = waiting.count
  }

  override func cancelUpstreams() {
    let up = self.up.take()
    super.cancelUpstreams()
    waiting.removeAll()
    up?.cancel()
  }
}

/// The treatment of a value that arrives while a publisher runs.
@usableFromInline enum WhenBusy {
  /// The value's publisher replaces the running one.
  case replaces
  /// The value is dropped, and reported.
  case isDropped
  /// The value waits for its turn.
  case waits
}

extension Publisher {
  /// Makes a publisher from each value, runs the publishers one at a time, and delivers their values to `subscriber`.
  @inlinable func flatten<P: Publisher, S: Subscriber<P.Output, P.Failure>>(
    _ name: StaticString, _ whenBusy: WhenBusy, into subscriber: S, _ make: @escaping (Output) -> P
  ) where Failure == S.Failure {
    let stage = FlatteningStage<Output, P.Output, Failure>(name, ErasedSubscriber(subscriber), whenBusy, make)
    if CurrentDomain.hasQueues { return stage.begin { receive(subscriber: stage) } }
    stage.down.receive(subscription: stage)
    receive(subscriber: stage)
  }
}
