/// Runs one publisher at a time, each made from a value of upstream: the stage of `switchToLatest`, `flatMapFirst` and
/// `concatMap`. They differ in their treatment of a value that arrives while a publisher runs.
@usableFromInline
final class FlatteningStage<Input, Output, Failure: Error>: SequentialStage<Output, Failure>, Subscriber {
  /// Makes a publisher from a value and subscribes the given inlet to it, or lets the stage take it.
  @usableFromInline let attach: (Input, FlatteningStage, Upstream?) -> Void
  @usableFromInline let whenBusy: WhenBusy
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  @exclusivity(unchecked) @usableFromInline var isFinished = false
  /// True if the subscriber gets its subscription with upstream's, not before.
  @exclusivity(unchecked) private var beginsLate = false
  /// True when upstream's completion was passed on. As in Combine's `switchToLatest`, an upstream that breaks the rules
  /// and completes again isn't corrected.
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
    // The gate brings requests and the cancellation to the queue.
    if gate.follow() { confinement = .anywhere }
    guard entry.enter() else { return gate.perform { [self] in accept(subscription) } }
    accept(subscription)
    entry.leave()
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
      gate.perform { [self] in arrived(input) }
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

  /// Replaces the current publisher with `publisher`; not while this is subscribing. While everything is requested, a
  /// sequence or a `Just` delivers without a subscription, which would take three allocations.
  @inlinable func take<P: Publisher<Output, Failure>>(_ publisher: P) {
    // Before the cancellation, which may call back into this.
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
        publisher.receive(subscriber: inlet)
      }
    }
    subscribeToUpcoming()
  }

  /// True while the publisher is still needed: nothing has cancelled it, and no other upstream has replaced it.
  @inlinable var isTaking: Bool { isActive && upcoming == nil }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard entry.enter() else { return gate.perform { [self] in upstreamEnded(completion) } }
    upstreamEnded(completion)
    entry.leave()
  }

  private func upstreamEnded(_ completion: Subscribers.Completion<Failure>) {
    if endsWithUpstream, !isCancelled { return down.receive(completion: completion) }
    guard isActive, !isFinished else { return }
    up = nil
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
    // Not `isEmpty`, for which the queue's type would be looked up where it is not known.
    if waiting.count > 0, let next = waiting.popFirst() { return start(next) }
    if isFinished { end(.finished) }
  }

  /// Reports the waiting values as dropped: a failure comes before their turn.
  private func reportWaiting() {
    while let input = waiting.popFirst() { StreamDiagnostics.dropped(input, name, .terminated) }
  }

  /// As in Combine's `switchToLatest`.
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
  /// It replaces the running publisher.
  case replaces
  /// It is dropped, and reported.
  case isDropped
  /// It waits for its turn.
  case waits
}

extension Publisher {
  /// Makes a publisher from each value, runs one at a time, and delivers their values to `subscriber`.
  @inlinable func flatten<P: Publisher, S: Subscriber<P.Output, P.Failure>>(
    _ name: StaticString, _ whenBusy: WhenBusy, into subscriber: S, _ make: @escaping (Output) -> P
  ) where Failure == S.Failure {
    let stage = FlatteningStage<Output, P.Output, Failure>(name, ErasedSubscriber(subscriber), whenBusy, make)
    if StreamHomes.mayCross { return stage.begin { receive(subscriber: stage) } }
    stage.down.receive(subscription: stage)
    receive(subscriber: stage)
  }
}
