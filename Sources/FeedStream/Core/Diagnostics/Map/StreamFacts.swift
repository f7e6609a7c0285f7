/// The state of a member of a live chain, as reported by the member; read only for the map, on the stream's thread.
@usableFromInline struct StreamFacts {
  var name: String
  var place: String?
  /// The member's subscriptions to its upstreams, or a ``MapBridge`` for an upstream that lives in a different home.
  var upstreams: [Any] = []
  /// The subscriber below, which may be a chain of stateless operators.
  var below: Any?
  /// Counts the events that arrive at the subscriber below.
  var delivered: Tally?
  /// The demand that has not been served yet; `nil` if the member passes demand on to upstream.
  var demand: Subscribers.Demand?
  /// The number of values that the member holds. `capacity` is the number that it can hold.
  var held = 0
  var capacity: Int?
  /// The number of values held for each upstream, if the values of one wait for those of the others.
  var partners: [Int] = []
  /// True while a timer is set that will deliver an event.
  var waitsForTime = false
  /// The finding about a member that delivers nothing before upstream's completion.
  var waitsForCompletion: String?
  /// The finding about a member that holds values for which there is no subscriber.
  var heldForNobody: String?
  /// The probable reason why nothing is delivered, for a finding about the member.
  var reason: String?
  /// The probable reason why the members above deliver nothing, if only this member can report it.
  var reasonAbove: String?
  /// Anything else that a reader should know about the member.
  var note: String?
  var isOver = false
  /// True for a member that takes events from several publishers: those that have completed are no longer counted.
  var joins = false
  /// True for a member that only moves values to another home, so that all values that have arrived either have left it
  /// or wait in it.
  var onlyMoves = false
  /// True for a member that only passes on requests, and isn't a node.
  var isTransparent = false

  /// The reason why a connectable publisher delivers nothing.
  static let notConnected = "it isn't connected: call connect(), and keep the result"

  init(_ name: String) { self.name = name }

  mutating func delivers<Input, Failure>(to down: ErasedSubscriber<Input, Failure>?) {
    guard let down else { return }
    below = down.subscriber
    delivered = down.tally
  }
}

/// A subscription that only passes everything on, and isn't a node of the map.
package protocol PassingSubscription: Subscription {
  var passed: any Subscription { get }
}

/// A member of a live chain that the map can read.
@usableFromInline protocol MapMember: AnyObject {
  /// The name of the member's node.
  var description: String { get }
  func tell(_ facts: inout StreamFacts)
  /// - Returns: false if the calling thread may not read the member now. If this returns true, call `endsReading()`
  ///   after reading.
  func beginsReading() -> Bool
  func endsReading()
}

extension MapMember {
  @usableFromInline func beginsReading() -> Bool { true }
  @usableFromInline func endsReading() {}
}

extension GuardedSubscription: MapMember {
  @usableFromInline func beginsReading() -> Bool {
    if let joint, !joint.isHomed { return joint.enter() }
    return cancellationGate?.mayBeRead ?? true
  }

  @usableFromInline func endsReading() {
    if let joint, !joint.isHomed { joint.leave() }
  }
}

extension ErasedSubscriber {
  /// Counts arriving events; `nil` if this subscriber was made while the map was off.
  var tally: Tally? { holder as? Tally }
}

/// A link in a chain that isn't an operator: a subscriber with its type erased.
protocol ErasedLink: Traceable {
  var tally: Tally? { get }
}

extension ErasedSubscriber: ErasedLink {}
extension AnySubscriber: ErasedLink {
  var tally: Tally? { downstream.tally }
}
