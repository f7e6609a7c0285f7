extension Scheduler {
  /// Subscribes `stage`, whose time operator uses this scheduler, to `upstream`. If this scheduler is a queue, the
  /// stage receives everything in its home, even from a user's publisher that delivers on its own threads.
  @inlinable func subscribe<Upstream: Publisher, S: Subscriber>(_ stage: S, to upstream: Upstream)
  where S.Input == Upstream.Output, S.Failure == Upstream.Failure {
    if CurrentDomain.hasQueues, let home = homeOfOperator {
      upstream.receive(subscriber: HomeBoundSubscriber(stage, home))
    } else {
      upstream.receive(subscriber: stage)
    }
  }

  @inline(never) @usableFromInline var homeOfOperator: CrossedHome? { (self as? any HomeTime)?.home }
}

/// A scheduler whose timers run on a queue and whose actions run in an operator's home.
protocol HomeTime {
  var home: CrossedHome { get }
}

extension HomeScheduler: HomeTime {}

/// Moves events to the home of a stage with timers on a queue. If upstream delivers on a queue, the stage stays in its
/// own home, because its timers must not wait for the code that runs on upstream's queue.
@usableFromInline final class HomeBoundSubscriber<Base: Subscriber>: Subscriber, Subscription, CustomStringConvertible {
  @usableFromInline typealias Input = Base.Input
  @usableFromInline typealias Failure = Base.Failure

  private let base: Base
  private let home: CrossedHome
  private let line = EventLine()
  /// The path to an upstream that delivers in a lane. Set before upstream's first event.
  @exclusivity(unchecked) private var crossing: HomePair?
  // Used in the home, if this object is the stage's subscription.
  @exclusivity(unchecked) private var up: (any Subscription)?
  private var bridge: MapBridge?

  @usableFromInline init(_ base: Base, _ home: CrossedHome) {
    self.base = base
    self.home = home
  }

  // MARK: Upstream, where it delivers

  @usableFromInline func receive(subscription: any Subscription) {
    guard crossing == nil, let domain = home.domain else { return base.receive(subscription: subscription) }
    guard let pair = HomePair.fromLane(to: domain) else {
      // A user's publisher may deliver its subscription on its own thread.
      return atHome(ArrivingSubscription.event(subscription, receiveAtHome))
    }
    (crossing, up) = (pair, subscription)
    bridge = .make(description, subscription)
    atHome(ArrivingSubscription.event(subscription, through: pair) { [self] _ in base.receive(subscription: self) })
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    // Without a domain, the stream is over. A user's publisher may still deliver, on its own thread.
    guard let domain = home.domain else { return .none }
    if crossing == nil, domain.isCurrent, line.isEmpty { return base.receive(input) }
    atHome { [self] in
      let more = base.receive(input)
      // Only the stage holds its upstream; the stage releases upstream when it is cancelled.
      if more > .none { (base as? any UpstreamHolder)?.requestOfUpstream(more) }
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    atHome { [self] in
      discard(up.take())
      base.receive(completion: completion)
    }
  }

  private func atHome(_ event: @escaping () -> Void) {
    guard let domain = home.domain else { return }
    if crossing == nil { line.pass(to: domain, event) } else { line.add(event) { domain.perform($0) } }
  }

  // MARK: The stage, in its home

  /// Called if upstream doesn't deliver in a lane.
  private func receiveAtHome(_ subscription: any Subscription) {
    // The stage refuses a second subscription. It needn't protect itself from a user's publisher, whose events are
    // moved here.
    guard up == nil, !subscription._isConfined else { return base.receive(subscription: subscription) }
    up = subscription
    base.receive(subscription: self)
  }

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    if let up { crossing.request(demand, from: up) }
  }

  @usableFromInline func cancel() {
    if let up = up.take() { crossing.cancel(up) }
  }

  @usableFromInline var _isConfined: Bool { true }

  @usableFromInline var combineIdentifier: CombineIdentifier { base.combineIdentifier }
  @usableFromInline var description: String { String(describing: base) }
}

extension HomeBoundSubscriber: MapMember {
  @usableFromInline func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = crossing == nil ? [up].compactMap { $0 } : [bridge].compactMap { $0 }
  }
}

/// A subscriber that holds its upstream.
protocol UpstreamHolder {
  func requestOfUpstream(_ demand: Subscribers.Demand)
}

extension Stage: UpstreamHolder {
  func requestOfUpstream(_ demand: Subscribers.Demand) { up?.request(demand) }
}

extension HomeBoundSubscriber: Traceable {
  @usableFromInline var below: Any { base }
}
