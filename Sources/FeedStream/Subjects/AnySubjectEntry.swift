/// One subscriber's account with a subject.
@usableFromInline class AnySubjectEntry {
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  /// Whether a value has passed the subscriber by since it last received one; true to begin with.
  @exclusivity(unchecked) @usableFromInline final var isBehind = true
  /// How far it is in what the subject keeps, when it keeps what has been sent.
  @exclusivity(unchecked) @usableFromInline final var position = 0
  /// Whether it is being served from what the subject keeps.
  @exclusivity(unchecked) @usableFromInline final var isBeingServed = false
  /// The place in the subject's list.
  @exclusivity(unchecked) @usableFromInline final var index: Int
  /// The subscription that the subscriber has, while it has it. Unsafe but right: a conduit clears it when it lets go of
  /// this or is released, and a weak reference would cost every subscription an allocation.
  @exclusivity(unchecked) @usableFromInline final unowned(unsafe) var conduit: Conduit?

  /// The list. Unsafe but right: it is the subject's, which a conduit keeps until it lets go of this.
  @usableFromInline final unowned(unsafe) let list: AnySubscriberList

  @inlinable init(on list: AnySubscriberList) {
    self.list = list
    index = list.outlets.count
  }

  /// Takes a value off what has been asked for, unless that is nothing: then the value passes the subscriber by.
  @inlinable final func spend() -> Bool {
    guard demand > .none else {
      isBehind = true
      return false
    }
    demand.takeOne()
    // Before the call: what is sent within it may pass this subscriber by.
    isBehind = false
    return true
  }

  /// The subscriber, for mirrors.
  @usableFromInline var subscriber: Any { () }
}
