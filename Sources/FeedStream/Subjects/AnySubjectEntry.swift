/// The state that a subject keeps for one subscriber.
@usableFromInline class AnySubjectEntry {
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  /// True when the subscriber has missed the current value, and at the beginning.
  @exclusivity(unchecked) @usableFromInline final var isBehind = true
  /// Its position among the values ever sent: for a subject that keeps them, the next to deliver; for one that has a
  /// current value, the one that it last asked for after it was sent.
  @exclusivity(unchecked) @usableFromInline final var position = 0
  /// True while it is being served from the values that the subject keeps.
  @exclusivity(unchecked) @usableFromInline final var isBeingServed = false
  /// Its index in the subject's list.
  @exclusivity(unchecked) @usableFromInline final var index: Int
  /// The subscriber's subscription, as long as there is one. Unsafe but correct: a conduit clears it when it releases
  /// this or is released, and a weak reference would cost every subscription an allocation.
  @exclusivity(unchecked) @usableFromInline final unowned(unsafe) var conduit: Conduit?

  /// The list. Unsafe but correct: it belongs to the subject, which a conduit retains until it releases this.
  @usableFromInline final unowned(unsafe) let list: AnySubscriberList

  @inlinable init(on list: AnySubscriberList) {
    self.list = list
    index = list.outlets.count
  }

  /// Subtracts a value from the demand. Returns false when there is no demand.
  @inlinable final func spend() -> Bool {
    guard demand > .none else { return false }
    demand.takeOne()
    return true
  }

  /// Counts arriving events; `nil` if it subscribed while the map was off.
  @usableFromInline var tally: Tally? { nil }

  /// The subscriber, for mirrors.
  @usableFromInline var subscriber: Any { () }
}
