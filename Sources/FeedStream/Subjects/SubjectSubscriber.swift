extension Publisher {
  /// Sends `subject` everything that this publisher delivers.
  ///
  /// **Demand:** requests everything once a subscriber of the subject requests values; for a ``CurrentValueSubject``,
  /// immediately.
  ///
  /// - Parameters:
  ///   - subject: the subject.
  ///   - file: identifies the subscription in warnings, together with `line`.
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
  /// Makes a subscriber that sends `subject` everything that it receives.
  public init<S: Subject>(_ subject: S) where S.Output == Input, S.Failure == Failure {
    self.init(SubjectSubscriber(subject))
  }
}

/// A subject that cancels its upstreams when it is deallocated. Its upstreams therefore need no weak reference to it;
/// loading a weak reference would take 50 ns per value.
@usableFromInline protocol UpstreamCancelling: Subject {
  /// The lane in which the subject was made, if it belongs to a stream that lives in a lane.
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

/// Feeds a subject from a publisher. It is the publisher's subscriber, and the subscription that the subject receives.
/// It retains the subject only until the publisher's subscription arrives.
@usableFromInline
final class SubjectSubscriber<Target: Subject>: GuardedSubscription, Subscriber, FiniteSubscription {
  @usableFromInline typealias Input = Target.Output
  @usableFromInline typealias Failure = Target.Failure

  /// The subject, until the publisher's subscription arrives.
  private var waiting: Target?
  /// The subject, not retained. An `UpstreamCancelling` subject exists as long as `isLive` is true.
  @usableFromInline let fed: Unmanaged<Target>
  /// The list of a `PassthroughSubject`. It is retained here, so that it survives a delivery that releases the subject,
  /// and need not be retained for each value (10 of 19 ns in `share`). The subject empties its list when it is
  /// deallocated.
  @usableFromInline let passage: Unmanaged<SubscriberList<Target.Output, Target.Failure>>?
  /// A subject that isn't `UpstreamCancelling`.
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

  // In specialized code, the compiler evaluates this condition.
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
    // Any thread may release the connection, because nothing is left to cancel.
    confinement = .anywhere
    discard(up.take())
    waiting = nil
    discard(other.take())
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
  @usableFromInline var lane: (any StreamLane)? { nil }
  @usableFromInline var upstream: AnyObject? { up.map { $0 as AnyObject } }
}
