extension Publisher {
  /// Subscribes `stage`, which also has other upstreams, to this publisher. If this publisher delivers on a queue or on
  /// its own thread, its events are moved to the stage's home.
  @inlinable func receive<S: Subscriber & GatedStage>(gated stage: S) where S.Input == Output, S.Failure == Failure {
    receive(subscriber: HomeSubscriber(stage, stage.gate))
  }

  /// Subscribes `stage`, which lives on one thread, to this publisher. If this publisher delivers on a queue, its
  /// events are moved to the stage's home.
  @inlinable func receive<S: Subscriber>(home stage: S) where S.Input == Output, S.Failure == Failure {
    if StreamHomes.mayCross { receive(subscriber: HomeSubscriber(stage)) } else { receive(subscriber: stage) }
  }

  /// Subscribes `stage`, which returns to its home from another thread, to this publisher. On a loop, this works like
  /// `receive(home:)`; without a loop, the stage has its own lane.
  @inlinable func receive<S: Subscriber>(bringingTo stage: S) where S.Input == Output, S.Failure == Failure {
    if StreamHomes.mayCross, StreamHomes.hasLoop {
      receive(subscriber: HomeSubscriber(stage))
    } else {
      receive(subscriber: stage)
    }
  }
}

/// Facts about homes, for inlinable code.
@usableFromInline enum StreamHomes {
  /// True once the process has used a queue as a scheduler.
  @inline(never) @usableFromInline static var mayCross: Bool { Home.hasQueues }
  /// True if the calling code runs on a loop, in virtual time or in a lane.
  @inline(never) @usableFromInline static var hasLoop: Bool { Home.current != nil }
}

/// A stage's subscription to the upstream whose subscription leads the stage to deliver its own. It holds the path to
/// an upstream that delivers on a queue, and sends events through the stage's gate, if it has one.
@usableFromInline final class HomeSubscriber<Base: Subscriber>: Subscriber, Subscription, CustomStringConvertible {
  @usableFromInline typealias Input = Base.Input
  @usableFromInline typealias Failure = Base.Failure

  @usableFromInline let base: Base
  @usableFromInline let gate: ThreadGate?
  @usableFromInline let entry: GateEntry?
  @exclusivity(unchecked) @usableFromInline var crossing: HomePair?
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  @exclusivity(unchecked) private var hasBegun = false

  @inlinable init(_ base: Base, _ gate: ThreadGate? = nil) {
    self.base = base
    self.gate = gate
    entry = gate.map(GateEntry.init)
  }

  // MARK: Upstream, where it delivers

  @usableFromInline func receive(subscription: any Subscription) {
    // The stage refuses a second subscription.
    guard !hasBegun else { return base.receive(subscription: subscription) }
    hasBegun = true
    up = subscription
    crossing = HomePair.ofSubscriptionHandedDown(to: gate, description)
    guard isHere() else { return atHome { [self] in base.receive(subscription: self) } }
    handle { base.receive(subscription: self) }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard isHere() else { return bring(input) }
    return handle { base.receive(input) }
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isHere() else { return atHome { [self] in end(completion) } }
    handle { end(completion) }
  }

  private func end(_ completion: Subscribers.Completion<Failure>) {
    up = nil
    base.receive(completion: completion)
  }

  /// True if the event must be handled on this thread, with ``handle(_:)``.
  @inlinable @inline(__always) func isHere() -> Bool { crossing == nil && entry?.enter() ?? true }

  @inlinable @inline(__always) func handle<R>(_ event: () -> R) -> R {
    let result = event()
    entry?.leave()
    return result
  }

  @inline(never) @usableFromInline func bring(_ input: Input) -> Subscribers.Demand {
    atHome { [self] in
      let more = base.receive(input)
      if more > .none { request(more) }
    }
    return .none
  }

  @usableFromInline func atHome(_ action: @escaping () -> Void) {
    if let crossing { crossing.atHome(action) } else { gate?.perform(action) }
  }

  // MARK: The stage, in its home

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    guard let crossing else { return up?.request(demand) ?? () }
    crossing.atSource { [self] in up?.request(demand) }
  }

  @usableFromInline func cancel() {
    // Before the subscription, cancel the stage itself: in Combine, stage and subscriber are one object.
    guard hasBegun else { return (base as? any Subscription)?.cancel() ?? () }
    guard let crossing else { return up.take()?.cancel() ?? () }
    crossing.atSource { [self] in up.take()?.cancel() }
  }

  @usableFromInline var _isConfined: Bool { crossing != nil || gate != nil || up?._isConfined ?? true }

  @usableFromInline var combineIdentifier: CombineIdentifier { base.combineIdentifier }
  @usableFromInline var description: String { String(describing: base) }
}

extension HomeSubscriber: Traceable {
  @usableFromInline var below: Any { base }
}
