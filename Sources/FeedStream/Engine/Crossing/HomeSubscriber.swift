extension Publisher {
  /// Subscribes `stage`, which also has other upstreams, to this publisher. If this publisher delivers on a queue or on
  /// its own thread, its events are moved to the stage's home.
  @inlinable func receive<S: Subscriber & GatedStage>(gated stage: S) where S.Input == Output, S.Failure == Failure {
    receive(subscriber: HomeSubscriber(stage, stage.gate))
  }

  /// Subscribes `stage`, which lives on one thread, to this publisher. If this publisher delivers on a queue, its
  /// events are moved to the stage's home.
  @inlinable func receive<S: Subscriber>(home stage: S) where S.Input == Output, S.Failure == Failure {
    if CurrentDomain.hasQueues { receive(subscriber: HomeSubscriber(stage)) } else { receive(subscriber: stage) }
  }

  /// Subscribes `stage` to this publisher; the stage's work on other threads returns to its home. On a loop, this
  /// works like `receive(home:)`; without a loop, the stage has its own lane.
  @inlinable func receive<S: Subscriber & HomedStage>(bringingTo stage: S)
  where S.Input == Output, S.Failure == Failure {
    if !CurrentDomain.hasQueues {
      receive(subscriber: stage)
    } else if let lane = stage.ownLane {
      receive(subscriber: HomeBoundSubscriber(stage, lane))
    } else {
      receive(subscriber: HomeSubscriber(stage))
    }
  }
}

/// A stage whose work on other threads returns to its home.
@usableFromInline protocol HomedStage {
  /// The lane that the stage has because there is no loop; `nil` on a loop or a queue.
  var ownLane: CrossedHome? { get }
}

extension Publisher {
  /// Subscribes `stage`, which has one upstream, to this publisher. A publisher that joins others, or has threads of its
  /// own, delivers on one thread while the stage's subscriber requests values on another: both then enter a gate.
  @inlinable func receive<Output, Failure, S: Stage<Output, Failure> & Subscriber>(stage: S)
  where S.Input == Self.Output, S.Failure == Self.Failure {
    if _deliversAtHome {
      receive(subscriber: stage)
    } else {
      receive(stage: stage, through: ThreadGate(following: .always))
    }
  }

  /// The gate of a stage that holds values of this publisher.
  @inlinable var gateOfHolder: ThreadGate? {
    !_deliversAtHome || Home.isShared ? ThreadGate(following: .always) : nil
  }

  /// Subscribes `stage` to this publisher; the stage's requests and cancellation enter `gate`, as upstream's events do.
  @inlinable func receive<Output, Failure, S: Stage<Output, Failure> & Subscriber>(stage: S, through gate: ThreadGate?)
  where S.Input == Self.Output, S.Failure == Self.Failure {
    guard let gate else { return receive(subscriber: stage) }
    if stage.joint == nil { stage.joint = gate }
    receive(subscriber: HomeSubscriber(stage, gate))
  }

  /// Subscribes `stage` to this publisher: through `gate`, or directly if there is none. The stage takes events from
  /// one publisher after another.
  ///
  /// - Parameter isFollowed: true if the stage subscribes again after a failure.
  @inlinable func receive<S: Subscriber>(_ stage: S, through gate: ThreadGate?, isFollowed: Bool = false)
  where S.Input == Output, S.Failure == Failure {
    if gate == nil, !isFollowed { return receive(home: stage) }
    receive(subscriber: HomeSubscriber(stage, gate, isFollowed: isFollowed))
  }
}

extension ThreadGate {
  /// The gate of a stage that takes events from one publisher after another; `nil` on a loop in a process without
  /// queues, because later publishers that use queues deliver on the loop.
  @usableFromInline static func ofSuccession() -> ThreadGate? {
    CurrentDomain.hasQueues || !Home.exists ? ThreadGate(following: .always) : nil
  }
}

/// A publisher whose events may come from several threads: it takes them from several publishers, one after another or at
/// the same time, or has several subscribers. A loop or a queue, if there is one, brings them together.
@_documentation(visibility: internal)
public protocol _JoinsPublishers: Publisher {}

extension _JoinsPublishers {
  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { !Home.isShared }
}

// Most of these publishers are operators, which by default deliver where their upstream does.
extension _JoinsPublishers where Self: Publishers.Operator {
  @_documentation(visibility: internal)
  @inlinable public var _deliversAtHome: Bool { !Home.isShared }
}

/// A stage's subscription to its main upstream: when this upstream's subscription arrives, the stage delivers its own.
/// This object holds the path to an upstream that delivers on a queue, and sends events through the stage's gate, if
/// the stage has one.
@usableFromInline final class HomeSubscriber<Base: Subscriber>: Subscriber, Subscription, CustomStringConvertible {
  @usableFromInline typealias Input = Base.Input
  @usableFromInline typealias Failure = Base.Failure

  @usableFromInline let base: Base
  @usableFromInline let gate: ThreadGate?
  @usableFromInline let entry: GateEntry?
  @exclusivity(unchecked) @usableFromInline var crossing: HomePair?
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  @exclusivity(unchecked) private var hasBegun = false
  /// True when the stage has cancelled upstream: events that are still on the way to the stage's home are dropped.
  @exclusivity(unchecked) @usableFromInline var isCancelled = false
  /// True if the stage subscribes again after upstream's failure.
  @usableFromInline let isFollowed: Bool
  /// True after such a failure: upstream's remaining events mustn't mix with the next subscription's events. Upstream
  /// may not have noticed yet that an operator between it and the stage has failed and cancelled it.
  @exclusivity(unchecked) @usableFromInline var isOver = false
  private let line = EventLine()
  private var bridge: MapBridge?

  @inlinable init(_ base: Base, _ gate: ThreadGate? = nil, isFollowed: Bool = false) {
    self.base = base
    self.gate = gate
    self.isFollowed = isFollowed
    entry = gate.map(GateEntry.init)
  }

  // MARK: Upstream, where it delivers

  @usableFromInline func receive(subscription: any Subscription) {
    // The stage refuses a second subscription.
    guard !hasBegun else { return base.receive(subscription: subscription) }
    hasBegun = true
    crossing = HomePair.ofSubscriptionHandedDown(to: gate, following: true, description)
    // Without a path or a gate, this object only drops late events. Upstream's own subscription may be used on several
    // threads; `up` may not.
    if isFollowed, crossing == nil, gate == nil { return base.receive(subscription: subscription) }
    up = subscription
    if crossing != nil { bridge = .make(description, subscription) } else if let gate { subscription.join(gate) }
    guard isHere() else { return atHome(ArrivingSubscription.event(self, base.receive(subscription:))) }
    handle { base.receive(subscription: self) }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard isHere() else { return bring(input) }
    return handle { isOver ? .none : base.receive(input) }
  }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    guard isHere() else { return atHome { [self] in if !isCancelled { end(completion) } } }
    handle { end(completion) }
  }

  @inlinable func end(_ completion: Subscribers.Completion<Failure>) {
    guard !isOver else { return }
    if isFollowed, case .failure = completion { isOver = true }
    discard(up.take())
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
      guard !isCancelled, !isOver else { return }
      let more = base.receive(input)
      if more > .none { request(more) }
    }
    return .none
  }

  @usableFromInline func atHome(_ event: @escaping () -> Void) {
    line.add(event) { if let crossing { crossing.atHome($0) } else { gate?.perform($0) } }
  }

  // MARK: The stage, in its home

  @usableFromInline func request(_ demand: Subscribers.Demand) {
    // `up` is read here, because upstream's completion sets it to `nil` here.
    if let up { crossing.request(demand, from: up) }
  }

  /// Cancels upstream, but still passes on requests.
  @usableFromInline func cancelAndStand() {
    isCancelled = true
    if let up { crossing.cancel(up) }
  }

  /// Releases upstream, which ``cancelAndStand()`` has cancelled, when the stage no longer needs it.
  @usableFromInline func dismiss() { discard(up.take()) }

  @usableFromInline func cancel() {
    // Before the subscription, cancel the stage itself: in Combine, stage and subscriber are one object.
    guard hasBegun else { return (base as? any Subscription)?.cancel() ?? () }
    isCancelled = true
    if let up = up.take() { crossing.cancel(up) }
  }

  @usableFromInline var _isConfined: Bool { crossing != nil || gate != nil || up?._isConfined ?? true }

  @usableFromInline var combineIdentifier: CombineIdentifier { base.combineIdentifier }
  @usableFromInline var description: String { String(describing: base) }
}

extension HomeSubscriber: CustomReflectable, CustomPlaygroundDisplayConvertible {
  @usableFromInline var customMirror: Mirror {
    (base as? any CustomReflectable)?.customMirror ?? Mirror(reflecting: base)
  }
  @usableFromInline var playgroundDescription: Any { description }
}

extension HomeSubscriber: GateBearer {
  @usableFromInline package var gateAbove: (any EntryGate)? {
    guard let gate else { return (up as? any GateBearer)?.gateAbove }
    return gate.isHomed ? nil : gate
  }
}

extension HomeSubscriber: Traceable {
  @usableFromInline var below: Any { base }
}

extension HomeSubscriber: MapMember {
  @usableFromInline func tell(_ facts: inout StreamFacts) {
    facts.isTransparent = true
    facts.upstreams = crossing == nil ? [up].compactMap { $0 } : [bridge].compactMap { $0 }
  }
}
