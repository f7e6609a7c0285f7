/// The state that a subject keeps for one subscriber.
@usableFromInline class AnySubjectEntry {
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  /// True when the subscriber has missed a value since it last received one, and at the beginning.
  @exclusivity(unchecked) @usableFromInline final var isBehind = true
  /// Its position among the values that the subject keeps, for a subject that keeps what has been sent.
  @exclusivity(unchecked) @usableFromInline final var position = 0
  /// True while it is being served from the values that the subject keeps.
  @exclusivity(unchecked) @usableFromInline final var isBeingServed = false
  /// Its index in the subject's list.
  @exclusivity(unchecked) @usableFromInline final var index: Int
  /// The subscriber's subscription, as long as there is one. Unsafe but correct: a conduit clears it when it releases
  /// this or is released, and a weak reference would cost every subscription an allocation.
  @exclusivity(unchecked) @usableFromInline final unowned(unsafe) var conduit: Conduit?

  /// The list. Unsafe but correct: it belongs to the subject, which a conduit keeps until it releases this.
  @usableFromInline final unowned(unsafe) let list: AnySubscriberList

  @inlinable init(on list: AnySubscriberList) {
    self.list = list
    index = list.outlets.count
  }

  /// Subtracts a value from the demand. Returns false when there is no demand: then the subscriber misses the value.
  @inlinable final func spend() -> Bool {
    guard demand > .none else {
      isBehind = true
      return false
    }
    demand.takeOne()
    // Before the call: the subscriber may miss what is sent within it.
    isBehind = false
    return true
  }

  /// The subscriber, for mirrors.
  @usableFromInline var subscriber: Any { () }
}
