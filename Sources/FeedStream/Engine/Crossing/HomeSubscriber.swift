extension Publisher {
  /// Subscribes `stage`, which has other upstreams as well, to this one. Where this delivers on a queue, what it delivers
  /// is brought to the home of the stage.
  @inlinable func receive<S: Subscriber>(home stage: S) where S.Input == Output, S.Failure == Failure {
    if StreamHomes.mayCross { receive(subscriber: HomeSubscriber(stage)) } else { receive(subscriber: stage) }
  }

  /// Subscribes `stage`, which returns to its home from another thread, to this one: on a loop, as with `receive(home:)`.
  /// Without a loop the stage has its own lane.
  @inlinable func receive<S: Subscriber>(bringingTo stage: S) where S.Input == Output, S.Failure == Failure {
    if StreamHomes.mayCross, StreamHomes.hasLoop {
      receive(subscriber: HomeSubscriber(stage))
    } else {
      receive(subscriber: stage)
    }
  }
}

/// The homes of operators that bring values from elsewhere.
@usableFromInline enum StreamHomes {
  /// True once the process has used a queue as a scheduler.
  @inline(never) @usableFromInline static var mayCross: Bool { Home.hasQueues }
  /// True when the calling code runs where a loop, virtual time or a lane is.
  @inline(never) @usableFromInline static var hasLoop: Bool { Home.current != nil }
}

/// A stage's subscription to the one of its upstreams that hands it down. It keeps the way to an upstream that delivers
/// on a queue.
@usableFromInline final class HomeSubscriber<Base: Subscriber>: Subscriber, Subscription, CustomStringConvertible {
  @usableFromInline typealias Input = Base.Input
  @usableFromInline typealias Failure = Base.Failure

  private let base: Base
  @exclusivity(unchecked) private var crossing: HomePair?
  @exclusivity(unchecked) private var up: (any Subscription)?

  @usableFromInline init(_ base: Base) { self.base = base }

  // MARK: Upstream, where it delivers

  @usableFromInline func receive(subscription: any Subscription) {
    guard let crossing = HomePair.ofSubscriptionHandedDown(to: description) else {
      return base.receive(subscription: subscription)
    }
    self.crossing = crossing
    up = subscription
    crossing.atHome { [self] in base.receive(subscription: self) }
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    guard let crossing else { return base.receive(input) }
    crossing.atHome { [self] in
      let more = base.receive(input)
      if more > .none { request(more) }
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard let crossing else { return base.receive(completion: completion) }
    crossing.atHome { [self] in base.receive(completion: completion) }
  }

  // MARK: The stage, in its home

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    crossing?.atSource { [self] in up?.request(demand) }
  }

  @usableFromInline func cancel() {
    crossing?.atSource { [self] in up.take()?.cancel() }
  }

  @usableFromInline var description: String { String(describing: base) }
}
