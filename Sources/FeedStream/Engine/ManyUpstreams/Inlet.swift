/// What a stage does with one of its upstreams, as a type: a stage that has several is told apart by it at compile
/// time, so that the value path stays specialized.
@usableFromInline protocol Port {
  associatedtype Owner: CustomStringConvertible
  associatedtype Input
  associatedtype Failure: Error

  /// The upstream accepted the subscription.
  static func began(_ inlet: Inlet<Self>)
  static func receive(_ input: Input, _ inlet: Inlet<Self>) -> Subscribers.Demand
  static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>)
  /// True when a value passes that comes before the subscription, or after the ending.
  static func takesStray(afterEnding: Bool) -> Bool
  /// What the inlet is identified by; itself, unless it stands for its owner.
  static func identifier(of inlet: Inlet<Self>) -> CombineIdentifier
}

extension Port {
  @inlinable static func takesStray(afterEnding: Bool) -> Bool { false }
  @usableFromInline static func identifier(of inlet: Inlet<Self>) -> CombineIdentifier { CombineIdentifier(inlet) }
}

/// The part of an inlet that is not generic, so that a stage can store and cancel several without a metadata lookup.
@usableFromInline class AnyInlet {
  /// For the owner's use: its place in the owner's list.
  @exclusivity(unchecked) @usableFromInline final var index: Int
  /// For the owner's use: whether it has asked for everything.
  @exclusivity(unchecked) @usableFromInline final var isUnlimited = false
  @exclusivity(unchecked) @usableFromInline final var isLive = false
  @exclusivity(unchecked) @usableFromInline final var isEnded = false
  /// For the owner's use: whether a subscription that comes after the ending is neither used nor refused.
  @exclusivity(unchecked) @usableFromInline final var leavesLate = false
  @exclusivity(unchecked) @usableFromInline final var up: (any Subscription)?

  @inlinable init(index: Int) { self.index = index }

  @usableFromInline final func request(_ demand: Subscribers.Demand) { up?.request(demand) }

  /// Cancels upstream; nothing arrives from it any more.
  @usableFromInline final func cancel() {
    let up = self.up
    close()
    up?.cancel()
  }

  /// Takes no more notice of the subscription, which is still there to be cancelled; should the publisher send another,
  /// that begins anew.
  @usableFromInline final func reset() { isLive = false }

  /// Releases the values that it holds, and reports them if told to; see ``Lane``.
  @usableFromInline func drop(reporting: Bool) {}

  @usableFromInline final func close() {
    leavesLate = false
    isLive = false
    isEnded = true
    up = nil
  }
}

/// A stage's subscription to one of its upstreams, with the protocol's rules kept: the first subscription wins, one
/// ending, nothing after an ending or a cancellation.
@usableFromInline
class Inlet<P: Port>: AnyInlet, Subscriber, CustomStringConvertible, CustomReflectable,
  CustomPlaygroundDisplayConvertible
{
  @usableFromInline typealias Input = P.Input
  @usableFromInline typealias Failure = P.Failure

  @usableFromInline final let owner: P.Owner

  @inlinable init(_ owner: P.Owner, index: Int = 0) {
    self.owner = owner
    super.init(index: index)
  }

  @inlinable final func receive(subscription: any Subscription) {
    guard !isLive, !isEnded else {
      if isLive || !leavesLate { subscription.cancel() }
      return
    }
    isLive = true
    up = subscription
    P.began(self)
  }

  @inlinable final func receive(_ input: P.Input) -> Subscribers.Demand {
    guard isLive || P.takesStray(afterEnding: isEnded) else { return .none }
    return P.receive(input, self)
  }

  @inlinable final func receive(completion: Subscribers.Completion<P.Failure>) {
    guard isLive || isEnded && P.takesStray(afterEnding: true) else { return }
    isLive = false
    isEnded = true
    if case .finished = completion { up = nil }
    // One that fails is still there to be cancelled with the others.
    P.ended(completion, self)
    up = nil
  }

  @usableFromInline final var combineIdentifier: CombineIdentifier { P.identifier(of: self) }
  @usableFromInline final var description: String { owner.description }
  @usableFromInline final var playgroundDescription: Any { description }
  @usableFromInline final var customMirror: Mirror { Mirror(self, children: EmptyCollection()) }
}

extension Inlet: Traceable {
  @usableFromInline var below: Any { owner }
}
