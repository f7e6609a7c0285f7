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
  /// The subscription that the subscriber has, while it has it. Unsafe but right: a conduit clears it when it lets go of
  /// this or is released, and a weak reference would cost every subscription an allocation.
  @exclusivity(unchecked)
  @usableFromInline
  final unowned(unsafe) var conduit: Conduit?

  /// The list. Unsafe but right: it is the subject's, which a conduit keeps until it lets go of this.
  @usableFromInline
  final unowned(unsafe) let list: ConduitList

  @inlinable
  init(on list: ConduitList) {
    self.list = list
    index = list.outlets.count
  }

  /// Takes a value off what has been asked for, unless that is nothing: then the value passes the subscriber by.
  @inlinable
  final func spend() -> Bool {
    guard demand > .none else {
      isBehind = true
      return false
    }
    if demand != .unlimited { demand.rawValue &-= 1 }
    // Before the call: what is sent within it may pass this subscriber by.
    isBehind = false
    return true
  }

  /// The subscriber, for mirrors.
  @usableFromInline
  var subscriber: Any { () }
}

/// A subscriber in a subject's list. Its methods are constants, which a call need not retain; the list and the conduit let
/// the outlet go at the ending, and the subscriber with it.
@usableFromInline
class Outlet<Output, Failure: Error>: Ledger {
  @usableFromInline
  final let methods: SubscriberMethods<Output, Failure>
  /// What the methods take: the subscriber or what holds it, this or kept by this.
  @exclusivity(unchecked)
  @usableFromInline
  final var holder: Unmanaged<AnyObject>

  @inlinable
  init(_ methods: SubscriberMethods<Output, Failure>, _ holder: AnyObject?, on list: ConduitList) {
    self.methods = methods
    self.holder = .passUnretained(holder ?? list)
    super.init(on: list)
    if holder == nil { self.holder = .passUnretained(self) }
  }

  /// Delivers a value that has been taken off what was asked for.
  @inlinable
  @inline(__always)
  final func deliver(_ input: Output) {
    let more = holder._withUnsafeGuaranteedRef { methods.next($0, input) }
    if more > .none, isActive { demand += more }
  }

  @inlinable
  final func end(_ completion: Subscribers.Completion<Failure>) {
    holder._withUnsafeGuaranteedRef { methods.end($0, completion) }
  }
}

/// An outlet with its subscriber, which so needs no object of its own.
@usableFromInline
final class OutletTo<S: Subscriber>: Outlet<S.Input, S.Failure>, SubscriberHolding {
  @usableFromInline
  let target: S

  @inlinable
  init(_ subscriber: S, on list: ConduitList) {
    target = subscriber
    // Known at compile time where this is specialized.
    if let link = subscriber as? Link<S.Input, S.Failure> {
      super.init(link.downstream.methods, link.downstream.holder, on: list)
    } else if S.self is AnyObject.Type {
      super.init(SubscriberMethods(ofObject: S.self), unsafeBitCast(subscriber, to: AnyObject.self), on: list)
    } else {
      super.init(SubscriberMethods(of: OutletTo<S>.self), nil, on: list)
    }
  }

  @usableFromInline
  override var subscriber: Any { (target as? Link<S.Input, S.Failure>)?.downstream.subscriber ?? target }
}
