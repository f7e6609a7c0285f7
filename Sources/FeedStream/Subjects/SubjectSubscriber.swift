extension Publisher {
  /// Sends everything that this publisher delivers to `subject`.
  ///
  /// **Demand:** requests everything once a subscriber of the subject requests values.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - file: names the subscription in warnings, together with the line.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that cancels the subscription when it is cancelled or released.
  @inlinable
  public func subscribe<S: Subject>(
    _ subject: S, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable where S.Output == Output, S.Failure == Failure {
    let watch = SubscriptionWatch.begin(file, line)
    let subscriber = SubjectSubscriber(subject)
    subscribe(subscriber)
    return AnyCancellable(subscriber, watch)
  }
}

extension AnySubscriber {
  /// Makes a subscriber that sends everything that it receives to `subject`.
  public init<S: Subject>(_ subject: S) where S.Output == Input, S.Failure == Failure {
    self.init(SubjectSubscriber(subject))
  }
}

/// A subject that cancels its upstreams when it is deallocated, and so can be reached without a weak reference: loading
/// one takes 50 ns per value.
@usableFromInline protocol UpstreamCancelling: Subject {
  /// The lane in which it was made, if it is part of a stream that lives in one.
  var lane: SerialLane? { get }
}

extension PassthroughSubject: UpstreamCancelling {
  @usableFromInline var lane: SerialLane? { conduits.lane }
}
extension CurrentValueSubject: UpstreamCancelling {
  @usableFromInline var lane: SerialLane? { conduits.lane }
}
extension ReplaySubject: UpstreamCancelling {
  @usableFromInline var lane: SerialLane? { conduits.lane }
}

/// Feeds a subject from a publisher. It is the subscriber and, for the subject, the subscription. Holds the subject
/// until the subscription arrives, but not longer.
@usableFromInline
final class SubjectSubscriber<Target: Subject>: GuardedSubscription, Subscriber, FiniteSubscription {
  @usableFromInline typealias Input = Target.Output
  @usableFromInline typealias Failure = Target.Failure

  /// The subject, until the subscription arrives.
  private var waiting: Target?
  /// The subject. If it is `UpstreamCancelling`, it exists as long as this is live.
  @usableFromInline let fed: Unmanaged<Target>
  /// The list of a subject that only passes values on. It is retained here, so that it outlives a value whose delivery
  /// releases the subject, and need not be retained for each value (10 of 19 ns in `share`). The subject empties it
  /// when it is deallocated.
  @usableFromInline let passage: Unmanaged<SubscriberList<Target.Output, Target.Failure>>?
  /// Any other subject.
  @exclusivity(unchecked) @usableFromInline weak var other: Target?
  /// True from the arrival of the subscription until its completion or a cancellation.
  @exclusivity(unchecked) @usableFromInline var isLive = false
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  private let completed: (() -> Void)?

  /// - Parameter completed: runs before the subject receives the completion.
  @usableFromInline init(_ target: Target, completed: (() -> Void)? = nil) {
    waiting = target
    self.completed = completed
    fed = .passUnretained(target)
    passage = (target as? PassthroughSubject<Target.Output, Target.Failure>).map { .passRetained($0.conduits) }
  }

  deinit { passage?.release() }

  // Known at compile time where this is specialized.
  @inlinable static var cancelsUpstreams: Bool { Target.self is any UpstreamCancelling.Type }

  @inlinable var target: Target? { !isLive ? nil : Self.cancelsUpstreams ? fed.takeUnretainedValue() : other }

  @usableFromInline func receive(subscription: any Subscription) {
    guard !isLive, let target = waiting else {
      subscription.cancel()
      return
    }
    waiting = nil
    isLive = true
    up = subscription
    if !Self.cancelsUpstreams { other = target }
    target.send(subscription: self)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    if let passage {
      if isLive { _ = passage._withUnsafeGuaranteedRef { $0.pass(input) } }
    } else {
      target?.send(input)
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive else { return }
    let target = self.target
    letGo()
    completed?()
    target?.send(completion: completion)
  }

  private func letGo() {
    isLive = false
    up = nil
    waiting = nil
    other = nil
  }

  @usableFromInline var isOver: Bool { !isLive }

  override func requested(_ demand: Subscribers.Demand) { up?.request(demand) }

  override func cancelled() {
    let up = self.up
    letGo()
    up?.cancel()
  }

  override var takesNone: Bool { true }

  override func tell(_ facts: inout StreamFacts) {
    facts.upstreams = [up].compactMap { $0 }
    facts.isOver = isOver
  }

  override var description: String { "Subject" }
  override var customMirror: Mirror {
    mirror(["downstream": target as Any, "upstreamSubscription": up as Any])
  }
}

extension SubjectSubscriber: LiveSubscriber {
  @usableFromInline var isOnQueue: Bool { false }
  @usableFromInline var upstream: AnyObject? { up.map { $0 as AnyObject } }
}
