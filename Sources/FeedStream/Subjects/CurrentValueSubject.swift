/// A subject that has a value, and hands it and every one that follows to whoever is subscribed.
///
///     value       0---1---2--|
///     subscriber     0-1---2--|
///
/// **Demand, policy:** the present value is delivered on the first request. A value sent to a subscriber that has not
/// asked for one waits for its request; `send(_:)` counts it as dropped, and when a newer one takes its place, or the
/// ending comes first, it is reported to ``StreamDiagnostics/onDrop(_:)``. A publisher that feeds the subject is asked
/// for everything at once. **Failure:** the ending sent goes to every subscriber at once, asked for or not, and to
/// those who come later, without a value. **Cancellation:** a subscriber's is its own. **Re-entrancy:** a value sent
/// while another is being delivered is delivered at once, before the rest of the subscribers have seen the first.
/// **Confinement:** not `Sendable`; send to it on the thread its subscribers live on.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
  public typealias Receipt = Delivery

  @usableFromInline let conduits = SubscriberList<Output, Failure>("CurrentValueSubject")
  @exclusivity(unchecked) @usableFromInline var current: Output
  /// Whether the present value has passed a subscriber by.
  @exclusivity(unchecked) @usableFromInline var isMissed = false
  /// Whether that was so of one sent while another was being delivered, in the answer to which it may be asked for.
  @exclusivity(unchecked) @usableFromInline var isMissedWithin = false

  /// The present value; setting it is sending it. It can be set after the subject has ended, to nobody's notice.
  @inlinable public var value: Output {
    get { current }
    set { if conduits.isOpen { _ = deliver(newValue) } else { current = newValue } }
  }

  @inlinable public init(_ value: Output) {
    current = value
    // Somebody who looks at `value` may want it at any time.
    conduits.upstreams.want()
  }

  deinit { conduits.abandon() }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    conduits.add(subscriber, to: self) { [self] in catchUp($0) }
  }

  /// Delivers the present value to one who has not seen it, and what is sent meanwhile: a request made within that is
  /// served by the loop that is running, and the stack stays flat.
  @inlinable func catchUp(_ ledger: AnySubjectEntry) {
    guard ledger.isBehind, !ledger.isBeingServed else { return }
    ledger.isBeingServed = true
    while ledger.isBehind, ledger.spend() { conduits.outlet(ledger).deliver(current) }
    ledger.isBeingServed = false
  }

  /// How many are subscribed: who has neither cancelled nor been sent the ending.
  @inlinable public var subscriberCount: Int { conduits.count }

  /// Makes `value` the present one and delivers it to the subscribers that have asked for one.
  ///
  /// - Returns: to how many it was delivered, and how many it passed by.
  @inlinable @discardableResult public func send(_ value: Output) -> Delivery {
    guard conduits.isOpen else {
      let delivery = Delivery(isTerminated: true)
      conduits.report(value, delivery)
      return delivery
    }
    return deliver(value)
  }

  @inlinable func deliver(_ value: Output) -> Delivery {
    if isMissed { reportMissed(.bufferFull) }
    current = value
    let isWithin = conduits.sendings > 0
    let delivery = conduits.send(value)
    if delivery.dropped > 0 {
      isMissed = true
      if isWithin { isMissedWithin = true }
    }
    if isMissedWithin, !isWithin { serveMissed() }
    return delivery
  }

  /// Delivers the present value to those who have asked for it in the answer to the one before.
  @inline(never) @usableFromInline func serveMissed() {
    while isMissedWithin {
      isMissedWithin = false
      conduits.visit(catchUp)
    }
  }

  /// Reports the present value, unless everybody whom it passed by has caught up or left.
  @inline(never) @usableFromInline func reportMissed(_ reason: DroppedValue.Reason) {
    isMissed = false
    guard StreamDiagnostics.isWatched else { return }
    var isLost = false
    conduits.visit { if $0.isBehind { isLost = true } }
    if isLost { StreamDiagnostics.dropped(current, conduits.name, reason) }
  }

  public func send(completion: Subscribers.Completion<Failure>) {
    if isMissed { reportMissed(.noDemand) }
    conduits.send(completion: completion)
  }

  public func send(subscription: any Subscription) { conduits.upstreams.add(subscription) }
}

extension CurrentValueSubject {
  /// `send(_:)` for where a function without a result is wanted: `sink(receiveValue: subject.send)`.
  @_disfavoredOverload
  @inlinable public func send(_ value: Output) {
    let _: Delivery = send(value)
  }

  /// `send()` for where a function without a result is wanted.
  @_disfavoredOverload
  @inlinable public func send() where Output == Void {
    let _: Delivery = send(())
  }
}
