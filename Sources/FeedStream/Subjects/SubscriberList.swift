/// The list of a subject's subscribers, with its output and failure types.
@usableFromInline final class SubscriberList<Output, Failure: Error>: AnySubscriberList {
  /// The completion of the subject, once it has completed.
  @exclusivity(unchecked) @usableFromInline var completion: Subscribers.Completion<Failure>?
  /// The name of the subject's subscriptions, under which its drops are reported.
  @usableFromInline let name: StaticString
  /// The place in the program where the subject was made; `nil` if the subject is part of an operator.
  @usableFromInline let place: SourcePlace?
  /// The reasons for which a warning has been issued.
  private var warned: Set<DroppedValue.Reason> = []

  @inlinable init(_ name: StaticString, at place: SourcePlace? = nil) {
    self.name = name
    self.place = place
    super.init()
  }

  /// Adds a subscriber, or delivers the completion to it immediately if the subject has completed.
  ///
  /// - Parameters:
  ///   - position: the position of the subscriber's first value among all values ever sent.
  ///   - onRequest: called when the subscriber requests values, after the demand is recorded.
  @inlinable func add<S: Subscriber<Output, Failure>>(
    _ subscriber: S, to subject: AnyObject, from position: Int = 0, onRequest: ((AnySubjectEntry) -> Void)? = nil
  ) {
    if !confinement.isGated, let other = SerialLane.other(than: lane) {
      return cross(subscriber, from: other, to: subject, position, onRequest)
    }
    check(.subscribe)
    if isOpen {
      if LiveMap.isOn, S.self != ErasedSubscriber<Output, Failure>.self {
        return addCounted(subscriber, to: subject, position, onRequest)
      }
      isChanging = true
      let outlet = SubjectEntryHolding(subscriber, on: self)
      outlet.position = position
      outlets.append(.passRetained(outlet))
      isChanging = false
      subscriber.receive(subscription: Conduit(name, outlet, subject, onRequest: onRequest))
    } else if let completion {
      let subscription = EmptySubscription()
      subscriber.receive(subscription: subscription)
      if !subscription.isCancelled { subscriber.receive(completion: completion) }
    }
  }

  /// Adds a subscriber, and counts the events that it receives.
  @inlinable @inline(never) func addCounted<S: Subscriber<Output, Failure>>(
    _ subscriber: S, to subject: AnyObject, _ position: Int, _ onRequest: ((AnySubjectEntry) -> Void)?
  ) {
    add(ErasedSubscriber(subscriber), to: subject, from: position, onRequest: onRequest)
  }

  @usableFromInline override var owner: StaticString { name }
  @usableFromInline override var madeAt: SourcePlace? { place }

  /// Adds a subscriber that lives in its own lane.
  @inline(never) @usableFromInline func cross<S: Subscriber<Output, Failure>>(
    _ subscriber: S, from lane: SerialLane, to subject: AnyObject, _ position: Int,
    _ onRequest: ((AnySubjectEntry) -> Void)?
  ) {
    let crossing = SubjectCrossing(name, ErasedSubscriber(subscriber), home: lane, waits: onRequest != nil)
    CurrentDomain.outside { add(crossing, to: subject, from: position, onRequest: onRequest) }
  }

  /// `ledger`, an entry of this list, with its concrete types.
  @inlinable @inline(__always)
  func outlet(_ ledger: AnySubjectEntry) -> SubjectEntry<Output, Failure> {
    unsafeDowncast(ledger, to: SubjectEntry<Output, Failure>.self)
  }

  /// Delivers `input` to every subscriber that has requested a value, and reports it as dropped unless there are
  /// subscribers and all receive it.
  @inlinable func pass(_ input: Output) -> Delivery {
    let delivery = send(input)
    if delivery.isLost || delivery.dropped > 0 { report(input, delivery) }
    return delivery
  }

  /// Delivers `input` to every subscriber that has requested a value.
  @inlinable func send(_ input: Output) -> Delivery {
    sendToEach { entry in
      guard entry.spend() else { return false }
      outlet(entry).deliver(input)
      return true
    }
  }

  /// Delivers `input`, the new current value of a subject, with its version number. Skips a subscriber that has
  /// requested and received this value or a newer one while it was being sent. If `skipsOutdated` is true and a newer
  /// value has been sent, skips all remaining subscribers; the value is dropped only for those that are behind.
  @inlinable func send(_ input: Output, version: Int) -> Delivery {
    sendToEach { entry in
      let isCurrent = version == self.version
      if !isCurrent, skipsOutdated { return !entry.isBehind }
      guard entry.position < version else { return entry.position == version }
      guard entry.spend() else {
        // If a newer value has been sent, that send decides whether the subscriber is behind.
        if isCurrent { entry.isBehind = true }
        return false
      }
      // Set this before the call, because the subscriber may miss a value sent during the call. The delivery of an
      // outdated value leaves `isBehind` unchanged: the subscriber may have missed the current value.
      if isCurrent { entry.isBehind = false }
      outlet(entry).deliver(input)
      return true
    }
  }

  /// Calls `deliver` for each subscriber; `deliver` returns true when the subscriber has received the value.
  @inlinable @inline(__always) func sendToEach(_ deliver: (AnySubjectEntry) -> Bool) -> Delivery {
    check(.send)
    guard isOpen else { return Delivery(isTerminated: true) }
    var delivery = Delivery()
    sendings &+= 1
    var index = 0
    let count = outlets.count
    // A completion sent during the loop empties the list.
    while index < count, index < outlets.count {
      outlets[index]?._withUnsafeGuaranteedRef {
        if deliver($0) {
          delivery.delivered &+= 1
        } else if $0.isActive {
          delivery.dropped &+= 1
        }
      }
      index &+= 1
    }
    sendings &-= 1
    if sendings == 0, !retired.isEmpty { release() }
    return delivery
  }

  @inlinable func send(completion: Subscribers.Completion<Failure>) {
    check(.send)
    guard isOpen else { return }
    isOpen = false
    self.completion = completion
    let ended = outlets.compactMap { $0?.takeRetainedValue() }
    outlets = []
    if sendings > 0 { retired.append(contentsOf: ended) }
    // A subscriber that is cancelled while another receives the completion does not receive it.
    for ledger in ended where ledger.isActive { end(outlet(ledger), completion) }
    if !watchers.isEmpty { tellWatchers() }
  }

  /// Releases a subscriber's subscription and delivers the completion to it.
  @usableFromInline func end(_ outlet: SubjectEntry<Output, Failure>, _ completion: Subscribers.Completion<Failure>) {
    outlet.conduit?.release()
    outlet.isActive = false
    outlet.end(completion)
  }
}

// MARK: - For subjects that serve each subscriber at its own pace

extension SubscriberList {
  /// Calls `body` for each subscriber, including those added during the loop, except those cancelled during it.
  @inlinable func visit(_ body: (SubjectEntry<Output, Failure>) -> Void) {
    sendings &+= 1
    var index = 0
    while index < outlets.count {
      if let ledger = outlets[index]?.takeUnretainedValue(), ledger.isActive { body(outlet(ledger)) }
      index &+= 1
    }
    sendings &-= 1
    if sendings == 0, !retired.isEmpty { release() }
  }

  /// Completes one subscription, independently of the others.
  @usableFromInline func finish(_ outlet: SubjectEntry<Output, Failure>, _ completion: Subscribers.Completion<Failure>)
  {
    remove(outlet)
    end(outlet, completion)
  }

  /// Reports `value` as dropped: there was no subscriber, not every subscriber received the value, or the subject had
  /// completed.
  @inline(never) @usableFromInline func report(_ value: Output, _ delivery: Delivery) {
    let reason: DroppedValue.Reason =
      delivery.isTerminated ? .terminated : delivery.dropped > 0 ? .noDemand : .noSubscriber
    StreamDiagnostics.dropped(value, name, reason, isPolicy: true)
    // Warn only once per reason, because formatting the place for each value would take longer than everything else.
    guard let place, !warned.contains(reason), Warnings.areOn else { return }
    warned.insert(reason)
    Warnings.undelivered(name, reason, at: place)
  }
}
