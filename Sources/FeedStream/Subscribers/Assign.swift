import Synchronization

extension Publisher where Failure == Never {
  /// Writes every value to a property of `object`.
  ///
  /// **Demand:** requests everything immediately. **Lifetime:** retains `object` until the completion or the
  /// cancellation.
  ///
  /// - Parameters:
  ///   - keyPath: the property.
  ///   - object: the object whose property is written.
  ///   - file: identifies the subscription in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that cancels the subscription when it is cancelled or released. Keep it, but not in
  ///   `object`: that would create a retain cycle.
  @inlinable public func assign<Root>(
    to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root, file: StaticString = #fileID,
    line: UInt = #line
  ) -> AnyCancellable {
    let watch = SubscriptionWatch.begin(file, line)
    let assign = Subscribers.Assign(object: object, keyPath: keyPath)
    subscribe(assign)
    return AnyCancellable(assign, watch)
  }
}

extension Subscribers {
  /// Writes each value to a property of an object, and releases the object at the completion.
  public final class Assign<Root, Input>: Subscriber, Cancellable {
    public typealias Failure = Never

    private enum Status {
      case waiting
      case subscribed(any Subscription)
      case ended
    }

    public private(set) var object: Root?
    public let keyPath: ReferenceWritableKeyPath<Root, Input>
    private var status = Status.waiting
    /// The lane in which this subscriber lives, if its subscription arrived on a queue.
    private var home: SubscriberLane?
    private let arrival = Arrival()
    /// Upstream, if it may deliver on any thread. `isBeginning` is then true until its first event.
    private var unconfined: UnconfinedUpstream?
    private var isBeginning = false
    /// Atomic, because one thread may cancel while another delivers upstream's values.
    private let isCancelled = Atomic(false)

    public init(object: Root, keyPath: ReferenceWritableKeyPath<Root, Input>) {
      self.object = object
      self.keyPath = keyPath
    }

    public func receive(subscription: any Subscription) {
      guard case .waiting = status else {
        subscription.cancel()
        return
      }
      var subscription = subscription
      if !subscription._isConfined {
        let upstream = UnconfinedUpstream()
        unconfined = upstream
        isBeginning = true
        subscription = upstream.attach(subscription)
      }
      status = .subscribed(subscription)
      home = .current
      guard arrival.arrive() else { return cancel() }
      subscription.request(.unlimited)
    }

    public func receive(_ value: Input) -> Subscribers.Demand {
      if begins(), case .subscribed = status, let object { object[keyPath: keyPath] = value }
      return .none
    }

    public func receive(completion: Subscribers.Completion<Never>) { if begins() { end() } }

    /// Returns false if the subscription was cancelled, perhaps on another thread.
    private func begins() -> Bool {
      guard !isCancelled.load(ordering: .relaxed) else { return false }
      guard isBeginning, let unconfined else { return true }
      guard unconfined.begin() else { return false }
      isBeginning = false
      return true
    }

    public func cancel() {
      isCancelled.store(true, ordering: .relaxed)
      guard arrival.mayCancel() else { return }
      if let home, home.cancels({ [self] in cancel() }) { return }
      // Another thread, on which upstream delivers, may be using this subscriber's other properties.
      guard let unconfined else { return end()?.cancel() ?? () }
      if !unconfined.touch({ end()?.cancel() }) { unconfined.cancelUpstream() }
    }

    /// Releases the object outside any access to this subscriber, because releasing it may call back into the
    /// subscriber.
    @discardableResult private func end() -> (any Subscription)? {
      guard case .subscribed(let subscription) = status else { return nil }
      status = .ended
      withExtendedLifetime(object) { object = nil }
      return subscription
    }
  }
}

extension Subscribers.Assign: LiveSubscriber {
  @usableFromInline var isLive: Bool {
    if case .subscribed = status { true } else { false }
  }
  @usableFromInline var hasArrived: Bool { arrival.hasArrived }
  @usableFromInline var lane: (any StreamLane)? { arrival.hasArrived ? home?.lane : nil }
  @usableFromInline var mayBeRead: Bool { unconfined?.mayBeRead ?? true }
  @usableFromInline var upstream: AnyObject? {
    if case .subscribed(let subscription) = status { (unconfined?.current ?? subscription) as AnyObject } else { nil }
  }
}

extension Subscribers.Assign: CustomStringConvertible, CustomReflectable, CustomPlaygroundDisplayConvertible {
  public var description: String { "Assign \(Root.self)." }
  public var customMirror: Mirror {
    Mirror(self, children: ["object": object as Any, "keyPath": keyPath, "status": status])
  }
  public var playgroundDescription: Any { description }
}
