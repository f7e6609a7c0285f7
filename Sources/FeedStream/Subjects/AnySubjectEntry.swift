/// The state that a subject keeps for one subscriber.
@usableFromInline class AnySubjectEntry {
  @exclusivity(unchecked) @usableFromInline final var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline final var isActive = true
  /// True initially, and whenever the subscriber has missed the current value.
  @exclusivity(unchecked) @usableFromInline final var isBehind = true
  /// The subscriber's position among all values ever sent. In a `ReplaySubject`, it is the position of the next value
  /// to deliver. In a `CurrentValueSubject`, it is the version that was current when the subscriber last requested a
  /// value that it had missed.
  @exclusivity(unchecked) @usableFromInline final var position = 0
  /// True while a loop delivers kept values to the subscriber.
  @exclusivity(unchecked) @usableFromInline final var isBeingServed = false
  /// The path of values through a gate, retained by this entry; `nil` for most entries. Unmanaged, because retaining
  /// the path for each value would take as long as the delivery.
  @exclusivity(unchecked) @usableFromInline final var path: Unmanaged<GatePath>?
  /// The index of this entry in the subject's list.
  @exclusivity(unchecked) @usableFromInline final var index: Int
  /// The subscriber's subscription, as long as there is one. Unsafe but correct: the conduit clears this reference when
  /// it releases the entry or is itself deallocated. A weak reference would cost an allocation per subscription. `nil`
  /// if the entry has a path, which belongs to the conduit.
  @exclusivity(unchecked) @usableFromInline final unowned(unsafe) var conduit: Conduit?

  /// The subject's list. Unsafe but correct: the list belongs to the subject, which the conduit retains until it
  /// releases this entry.
  @usableFromInline final unowned(unsafe) let list: AnySubscriberList

  @inlinable init(on list: AnySubscriberList) {
    self.list = list
    index = list.outlets.count
  }

  deinit { path?.release() }

  /// Subtracts one from the demand. Returns false when there is no demand.
  @inlinable final func spend() -> Bool {
    guard demand > .none || path != nil && collectRequests() else { return false }
    demand.takeOne()
    return true
  }

  /// Adds requests made on other threads to the demand.
  ///
  /// - Returns: true if there is demand now.
  @inline(never) @usableFromInline final func collectRequests() -> Bool {
    guard let path = path?.takeUnretainedValue() else { return false }
    if path.isCancelled { leave() } else { demand += path.collectRequests() }
    return demand > .none
  }

  /// Leaves the list after a cancellation on another thread.
  @inline(never) @usableFromInline final func leave() {
    isActive = false
    demand = .none
    list.remove(self)
  }

  /// Counts the events that the subscriber receives; `nil` if it subscribed while the map was off.
  @usableFromInline var tally: Tally? { nil }

  /// The subscriber, for mirrors.
  @usableFromInline var subscriber: Any { () }
}
