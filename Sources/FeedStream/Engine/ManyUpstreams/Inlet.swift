/// A stage's behavior toward one of its upstreams, as a type: it distinguishes several upstreams at compile time, so
/// that the value path stays specialized.
@usableFromInline protocol Port {
  associatedtype Owner: GatedStage
  associatedtype Input
  associatedtype Failure: Error

  /// Called when the upstream has accepted the subscription.
  static func began(_ inlet: Inlet<Self>)
  static func receive(_ input: Input, _ inlet: Inlet<Self>) -> Subscribers.Demand
  static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>)
  /// True if a value passes even though it arrives before the subscription, or (`afterEnding`) after the completion.
  static func takesStray(afterEnding: Bool) -> Bool
  /// True if the stage may follow this upstream to its lane; see ``ThreadGate/follow(_:)``.
  static var isMain: Bool { get }
  /// The inlet's identifier: its own, unless upstream sees the inlet and its owner as one subscriber.
  static func identifier(of inlet: Inlet<Self>) -> CombineIdentifier
}

extension Port {
  @inlinable static func takesStray(afterEnding: Bool) -> Bool { false }
  @inlinable static var isMain: Bool { false }
  @usableFromInline static func identifier(of inlet: Inlet<Self>) -> CombineIdentifier { CombineIdentifier(inlet) }
}

/// A stage whose events come through a gate.
@usableFromInline protocol GatedStage: AnyObject, CustomStringConvertible {
  var gate: ThreadGate { get }
}

/// The non-generic part of an inlet, so that a stage can store and cancel several inlets without a metadata lookup.
@usableFromInline class AnyInlet {
  /// For the owner's use: the index in the owner's list.
  @exclusivity(unchecked) @usableFromInline final var index: Int
  /// For the owner's use: true when the owner has requested everything.
  @exclusivity(unchecked) @usableFromInline final var isUnlimited = false
  /// For the owner's use: the number of this inlet's values that wait for demand.
  @exclusivity(unchecked) @usableFromInline final var waiting = 0
  /// For the owner's use: true when upstream has finished while some values still wait.
  @exclusivity(unchecked) @usableFromInline final var finishesLate = false
  @exclusivity(unchecked) @usableFromInline final var isLive = false
  @exclusivity(unchecked) @usableFromInline final var isEnded = false
  /// For the owner's use: true when a subscription that arrives after the completion is neither used nor refused.
  @exclusivity(unchecked) @usableFromInline final var leavesLate = false
  @exclusivity(unchecked) @usableFromInline final var up: (any Subscription)?
  /// The path from an upstream that lives on a queue outside the owner's home. Used where upstream delivers.
  @exclusivity(unchecked) @usableFromInline final var crossing: HomePair?
  /// The path to the upstream of `up`, if it lives on a queue outside the owner's home. Used in the owner's home.
  @exclusivity(unchecked) @usableFromInline final var path: HomePair?
  /// True when the owner has cancelled upstream: events that are still on the way to the owner's home are dropped.
  @exclusivity(unchecked) @usableFromInline final var isCancelled = false
  fileprivate final let line = EventLine()

  /// For the map: leads to an upstream that lives elsewhere.
  @exclusivity(unchecked) private final var bridge: MapBridge?

  @inlinable init(index: Int) { self.index = index }

  @usableFromInline final func request(_ demand: Subscribers.Demand) {
    if let up { path.request(demand, from: up) }
  }

  /// Cancels upstream; nothing arrives from it anymore.
  @usableFromInline final func cancel() {
    let up = self.up
    isCancelled = true
    close()
    if let up { path.cancel(up) }
  }

  /// Ignores the current subscription, which can still be cancelled, and accepts a new one from the publisher.
  @usableFromInline final func reset() { isLive = false }

  /// The number of values that the inlet holds; see ``Lane``.
  @usableFromInline var held: Int { 0 }

  /// Releases the values that the inlet holds, and reports them as dropped if `reporting` is true; see ``Lane``.
  @usableFromInline func drop(reporting: Bool) {}

  /// The subscription to upstream, for the map, or the bridge to an upstream that lives elsewhere.
  final var visible: [Any] { path == nil ? [up].compactMap { $0 } : isLive ? [bridge].compactMap { $0 } : [] }

  /// Called in upstream's home when its subscription arrives there.
  @inline(never) @usableFromInline final func crosses(_ subscription: any Subscription, to owner: String) {
    bridge = .make(owner, subscription)
  }

  @usableFromInline final func close() {
    leavesLate = false
    isLive = false
    isEnded = true
    discard(up.take())
  }
}

/// A stage's subscription to one of its upstreams. It enforces the protocol's rules: the first subscription wins, there
/// is one completion, and nothing follows a completion or a cancellation.
@usableFromInline
class Inlet<P: Port>: AnyInlet, Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Input = P.Input
  @usableFromInline typealias Failure = P.Failure

  @usableFromInline final let owner: P.Owner
  @usableFromInline final let entry: GateEntry

  @inlinable init(_ owner: P.Owner, index: Int = 0) {
    self.owner = owner
    entry = GateEntry(owner.gate)
    super.init(index: index)
  }

  @inlinable final func receive(subscription: any Subscription) {
    let crossing = HomePair.ofSubscriptionHandedDown(to: owner.gate, following: P.isMain, owner.description)
    if crossing == nil { subscription.join(owner.gate) } else { crosses(subscription, to: owner.description) }
    // Set this before the subscription reaches the owner's home, because upstream's events may arrive in the meantime.
    self.crossing = crossing
    if crossing == nil, entry.enter() {
      accept(subscription, through: nil)
      entry.leave()
    } else {
      bring(subscription, through: crossing)
    }
  }

  @inline(never) @usableFromInline final func bring(_ subscription: any Subscription, through crossing: HomePair?) {
    move(
      through: crossing,
      ArrivingSubscription.event(subscription, through: crossing) { [self] in accept($0, through: crossing) })
  }

  @usableFromInline final func accept(_ subscription: any Subscription, through path: HomePair?) {
    guard !isLive, !isEnded else {
      if isLive || !leavesLate { path.cancel(subscription) }
      return
    }
    isLive = true
    up = subscription
    self.path = path
    P.began(self)
  }

  @inlinable final func receive(_ input: P.Input) -> Subscribers.Demand {
    guard crossing == nil, entry.enter() else { return bring(input) }
    let more = take(input)
    entry.leave()
    return more
  }

  @inline(never) @usableFromInline final func bring(_ input: P.Input) -> Subscribers.Demand {
    move(through: crossing) { [self] in
      guard !isCancelled else { return }
      let more = take(input)
      if more > .none { request(more) }
    }
    return .none
  }

  @inlinable @inline(__always) final func take(_ input: P.Input) -> Subscribers.Demand {
    guard isLive || P.takesStray(afterEnding: isEnded) else { return .none }
    return P.receive(input, self)
  }

  @inlinable final func receive(completion: Subscribers.Completion<P.Failure>) {
    guard crossing == nil, entry.enter() else {
      return move(through: crossing) { [self] in if !isCancelled { end(completion) } }
    }
    end(completion)
    entry.leave()
  }

  /// Handles an event that takes the place of upstream's completion, after upstream's values.
  final func handleLast(_ event: @escaping () -> Void) {
    if crossing == nil, line.isEmpty { return owner.gate.run(event) }
    move(through: crossing) { [self] in if !isCancelled { event() } }
  }

  @usableFromInline final func move(through crossing: HomePair?, _ event: @escaping () -> Void) {
    line.add(event) { if let crossing { crossing.atHome($0) } else { owner.gate.perform($0) } }
  }

  @inlinable final func end(_ completion: Subscribers.Completion<P.Failure>) {
    guard isLive || isEnded && P.takesStray(afterEnding: true) else { return }
    isLive = false
    isEnded = true
    if case .finished = completion { discard(up.take()) }
    // Keep a failed upstream until the owner has cancelled all of its upstreams.
    P.ended(completion, self)
    discard(up.take())
  }

  @usableFromInline final var combineIdentifier: CombineIdentifier { P.identifier(of: self) }
  @usableFromInline final var description: String { owner.description }
  @usableFromInline final var playgroundDescription: Any { description }
  @usableFromInline final var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

extension Inlet: Traceable {
  @usableFromInline var below: Any { owner }
}
