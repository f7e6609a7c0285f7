/// The list of a subject's subscribers, with the types of what is sent to them.
@usableFromInline final class SubscriberList<Output, Failure: Error>: AnySubscriberList {
  /// How the subject ended, once it has.
  @exclusivity(unchecked) @usableFromInline var completion: Subscribers.Completion<Failure>?
  /// What the subject's subscriptions go by, and what its drops are reported under.
  @usableFromInline let name: StaticString

  @inlinable init(_ name: StaticString) {
    self.name = name
    super.init()
  }

  /// Adds a subscriber, or tells it at once that the subject has ended.
  ///
  /// - Parameters:
  ///   - position: where it begins in what the subject keeps.
  ///   - onRequest: what the subject does when the subscriber asks for values, beyond the ledger.
  @inlinable func add<S: Subscriber>(
    _ subscriber: S, to subject: AnyObject, from position: Int = 0, onRequest: ((AnySubjectEntry) -> Void)? = nil
  ) where S.Input == Output, S.Failure == Failure {
    confinement.check(name)
    if isOpen {
      let outlet = SubjectEntryHolding(subscriber, on: self)
      outlet.position = position
      outlets.append(.passRetained(outlet))
      subscriber.receive(subscription: Conduit(name, outlet, subject, onRequest: onRequest))
    } else if let completion {
      let subscription = EmptySubscription()
      subscriber.receive(subscription: subscription)
      if !subscription.isCancelled { subscriber.receive(completion: completion) }
    }
  }

  /// An entry of the list with its types.
  @inlinable @inline(__always)
  func outlet(_ ledger: AnySubjectEntry) -> SubjectEntry<Output, Failure> {
    unsafeDowncast(ledger, to: SubjectEntry<Output, Failure>.self)
  }

  /// Delivers `input` to every subscriber that has asked for a value, and reports it if it reaches less than everybody.
  @inlinable func pass(_ input: Output) -> Delivery {
    let delivery = send(input)
    if delivery.isLost || delivery.dropped > 0 { report(input, delivery) }
    return delivery
  }

  /// Delivers `input` to every subscriber that has asked for a value.
  @inlinable func send(_ input: Output) -> Delivery {
    confinement.check("Subject")
    guard isOpen else { return Delivery(isTerminated: true) }
    var delivery = Delivery()
    sendings &+= 1
    var index = 0
    let count = outlets.count
    // Ended or closed up on the way, the list is shorter.
    while index < count, index < outlets.count {
      outlets[index]?._withUnsafeGuaranteedRef {
        if $0.spend() {
          outlet($0).deliver(input)
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
    confinement.check("Subject")
    guard isOpen else { return }
    isOpen = false
    self.completion = completion
    let ended = outlets.compactMap { $0?.takeRetainedValue() }
    outlets = []
    if sendings > 0 { retired.append(contentsOf: ended) }
    // One that is cancelled by another's ending is not told of it.
    for ledger in ended where ledger.isActive { end(outlet(ledger), completion) }
    if !watchers.isEmpty { tellWatchers() }
  }

  /// Lets a subscriber's subscription go and tells it how the subject ended.
  @usableFromInline func end(_ outlet: SubjectEntry<Output, Failure>, _ completion: Subscribers.Completion<Failure>) {
    outlet.conduit?.release()
    outlet.isActive = false
    outlet.end(completion)
  }
}

// MARK: - For subjects that serve each subscriber at its own pace

extension SubscriberList {
  /// Visits the subscribers, less those cancelled since and with those added since.
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

  /// Ends one subscription, before or after the others.
  @usableFromInline func finish(_ outlet: SubjectEntry<Output, Failure>, _ completion: Subscribers.Completion<Failure>)
  {
    remove(outlet)
    end(outlet, completion)
  }

  /// Tells who watches that `value` reached less than everybody.
  @inline(never) @usableFromInline func report(_ value: Output, _ delivery: Delivery) {
    let reason: DroppedValue.Reason =
      delivery.isTerminated ? .terminated : delivery.dropped > 0 ? .noDemand : .noSubscriber
    StreamDiagnostics.dropped(value, name, reason)
  }
}
