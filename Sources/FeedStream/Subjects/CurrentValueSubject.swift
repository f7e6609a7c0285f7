/// A subject that has a current value, and delivers that value and every later one to its subscribers.
///
///     value       0---1---2--|
///     subscriber     0-1---2--|
///
/// **Demand, policy:** the current value is delivered on the first request. A value sent to a subscriber without demand
/// waits until the subscriber requests it; `send(_:)` counts it as dropped. If a newer value replaces it, or the
/// completion comes first, the value is reported to ``StreamDiagnostics/onDrop(_:)``. Everything is requested
/// immediately from a publisher that feeds the subject. **Failure:** the completion goes to every subscriber
/// immediately, whether requested or not, and to later subscribers, without a value. **Cancellation:** a subscriber
/// cancels only its own subscription. **Re-entrancy:** a value sent while another is being delivered is delivered
/// immediately, before the remaining subscribers have received the earlier value.
/// **Confinement:** not `Sendable`; send on the thread of its subscribers, and elsewhere through `sender(on:)`.
public final class CurrentValueSubject<Output, Failure: Error>: Subject, _DeliversAtHome {
  public typealias Receipt = Delivery

  @usableFromInline let conduits: SubscriberList<Output, Failure>
  @exclusivity(unchecked) @usableFromInline var current: Output
  /// True when a subscriber has missed the current value.
  @exclusivity(unchecked) @usableFromInline var isMissed = false
  /// True when a subscriber missed a value that was sent during a delivery. The subscriber may request the value when
  /// that delivery returns.
  @exclusivity(unchecked) @usableFromInline var isMissedWithin = false

  /// The current value. Setting it sends the new value. After the completion, it can still be set, but no subscriber is
  /// notified.
  @inlinable public var value: Output {
    get {
      conduits.checkReading()
      return current
    }
    set {
      if conduits.isOpen { _ = deliver(newValue) } else { discard(exchange(&current, with: newValue)) }
    }
  }

  /// Makes a subject whose current value is `value`.
  ///
  /// - Parameters:
  ///   - value: the first value.
  ///   - file: identifies the subject in warnings, together with `line`.
  ///   - line: the line in the file.
  @inlinable public convenience init(_ value: Output, file: StaticString = #fileID, line: UInt = #line) {
    self.init(value, at: SourcePlace(file, line))
  }

  /// The form of `init(_:file:line:)` that takes only the value, for `map(CurrentValueSubject.init)`.
  @_documentation(visibility: internal) @_disfavoredOverload
  @inlinable public convenience init(_ value: Output) {
    self.init(value, at: SourcePlace("CurrentValueSubject", 0))
  }

  @inlinable init(_ value: Output, of name: StaticString = "CurrentValueSubject", at place: SourcePlace?) {
    conduits = SubscriberList(name, at: place)
    current = value
    // Upstreams get demand immediately, because `value` may be read at any time.
    conduits.upstreams.want()
  }

  deinit { conduits.abandon() }

  @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    conduits.add(subscriber, to: self) { [self] in catchUp($0) }
  }

  /// Delivers the current value to a subscriber that has not received it, and then the values that are sent during the
  /// delivery. The running loop serves requests made during a delivery, so the stack stays flat.
  @inlinable func catchUp(_ ledger: AnySubjectEntry) {
    guard ledger.isBehind else { return }
    // The loop below delivers the current value. Record this first, so that a send in progress does not deliver the
    // value again.
    if ledger.demand > .none { ledger.position = conduits.version }
    guard !ledger.isBeingServed else { return }
    ledger.isBeingServed = true
    while ledger.isBehind, ledger.spend() {
      ledger.isBehind = false
      ledger.position = conduits.version
      conduits.outlet(ledger).deliver(current)
    }
    ledger.isBeingServed = false
  }

  /// The number of subscribers: those that have neither cancelled nor received the completion.
  @inlinable public var subscriberCount: Int { conduits.count }

  /// Sets the current value and delivers it to the subscribers that have requested a value.
  ///
  /// - Returns: the number of subscribers that received the value, and the number that missed it.
  @inlinable @discardableResult public func send(_ value: Output) -> Delivery {
    guard conduits.isOpen else {
      let delivery = Delivery(isTerminated: true)
      conduits.report(value, delivery)
      return delivery
    }
    return deliver(value)
  }

  @inlinable @inline(__always) func deliver(_ value: Output) -> Delivery {
    if isMissed { reportMissed(.bufferFull) }
    let old = exchange(&current, with: value)
    conduits.version &+= 1
    let version = conduits.version
    let delivery = conduits.send(value, version: version)
    // If `sendings` isn't 0, this call is nested in the delivery of another value.
    if delivery.dropped > 0 { noteMissed(value, isReplaced: version != conduits.version, conduits.sendings > 0) }
    if isMissedWithin, conduits.sendings == 0 { serveMissed() }
    discard(old)
    return delivery
  }

  @inline(never) @usableFromInline func noteMissed(_ value: Output, isReplaced: Bool, _ isWithin: Bool) {
    // A newer value has replaced this one, so it can no longer be requested.
    if isReplaced { return StreamDiagnostics.dropped(value, conduits.name, .bufferFull) }
    isMissed = true
    if isWithin { isMissedWithin = true }
  }

  /// Delivers the current value to subscribers that requested it with the demand they returned for the previous value.
  @inline(never) @usableFromInline func serveMissed() {
    while isMissedWithin {
      isMissedWithin = false
      conduits.visit(catchUp)
    }
  }

  /// Reports the current value as dropped, unless every subscriber that missed it has caught up or cancelled.
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
