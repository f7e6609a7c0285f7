/// One subscriber's account with a subject.
@usableFromInline
class Ledger {
  @exclusivity(unchecked)
  @usableFromInline
  final var demand = Subscribers.Demand.none
  @exclusivity(unchecked)
  @usableFromInline
  final var isActive = true
  /// Whether a value has passed the subscriber by since it last received one; true to begin with.
  @exclusivity(unchecked)
  @usableFromInline
  final var isBehind = true
  /// How far it is in what the subject keeps, when it keeps what has been sent.
  @exclusivity(unchecked)
  @usableFromInline
  final var position = 0
  /// Whether it is being served from what the subject keeps.
  @exclusivity(unchecked)
  @usableFromInline
  final var isBeingServed = false
  /// The place in the subject's list.
  @exclusivity(unchecked)
  @usableFromInline
  final var index: Int
  /// The subscription that the subscriber has, while it has it. Unsafe but right: a conduit clears it in its `deinit`, and
  /// a weak reference would cost every subscription an allocation.
  @exclusivity(unchecked)
  @usableFromInline
  final unowned(unsafe) var conduit: Conduit?

  @inlinable
  init(index: Int) { self.index = index }

  /// The subscriber, for mirrors.
  @usableFromInline
  var subscriber: Any { () }
}

/// A subscriber in a subject's list. Its downstream is a constant, which a call need not retain; the list and the conduit
/// let the outlet go at the ending, and the subscriber with it.
@usableFromInline
final class Outlet<Output, Failure: Error>: Ledger {
  @usableFromInline
  let down: Downstream<Output, Failure>
  @usableFromInline
  let next: (Output) -> Subscribers.Demand

  @inlinable
  init(_ down: Downstream<Output, Failure>, index: Int) {
    self.down = down
    next = down.next
    super.init(index: index)
  }

  @usableFromInline
  enum Offer { case delivered, dropped, vacant }

  /// Delivers `input` if the subscriber has asked for it.
  @inlinable
  func offer(_ input: Output) -> Offer {
    if demand == .none {
      isBehind = true
      return isActive ? .dropped : .vacant
    }
    if demand != .unlimited { demand.rawValue &-= 1 }
    // Before the call: what is sent within it may pass this subscriber by.
    isBehind = false
    let more = next(input)
    if more > .none, isActive { demand += more }
    return .delivered
  }

  @usableFromInline
  override var subscriber: Any { down.subscriber }
}
