extension Publisher {
  /// Feeds `subject` with everything this publisher delivers.
  ///
  /// **Demand:** unlimited, once somebody asks the subject for values.
  ///
  /// - Returns: cancels the subscription when cancelled or released.
  @inlinable
  public func subscribe<S: Subject>(_ subject: S) -> AnyCancellable where S.Output == Output, S.Failure == Failure {
    let subscriber = SubjectSubscriber(subject)
    subscribe(subscriber)
    return AnyCancellable(subscriber)
  }
}

extension AnySubscriber {
  /// Sends what arrives into `subject`.
  public init<S: Subject>(_ subject: S) where S.Output == Input, S.Failure == Failure {
    self.init(SubjectSubscriber(subject))
  }
}

/// A subject that cancels what feeds it when it goes, and so can be reached without a weak reference: loading one costs
/// 50 ns a value.
@usableFromInline protocol UpstreamCancelling: Subject {}

extension PassthroughSubject: UpstreamCancelling {}
extension CurrentValueSubject: UpstreamCancelling {}
extension ReplaySubject: UpstreamCancelling {}

/// Feeds a subject from a publisher; both the subscriber and, for the subject, the subscription. The subject is held until
/// it is fed, and not then.
@usableFromInline
final class SubjectSubscriber<Target: Subject>: GuardedSubscription, Subscriber, FiniteSubscription {
  @usableFromInline typealias Input = Target.Output
  @usableFromInline typealias Failure = Target.Failure

  /// The subject, before it is fed.
  private var waiting: Target?
  /// The subject, there as long as this is live if it is `UpstreamCancelling`.
  @usableFromInline let fed: Unmanaged<Target>
  /// The list of a subject that does nothing but pass values on. It is kept, so that it outlives a value whose delivery
  /// makes the subject go, and need not be retained for each (10 of 19 ns in `share`); the subject, going, empties it.
  @usableFromInline let passage: Unmanaged<SubscriberList<Target.Output, Target.Failure>>?
  /// Any other subject.
  @exclusivity(unchecked) @usableFromInline weak var other: Target?
  /// Whether the subscription has come, and neither its ending nor a cancellation.
  @exclusivity(unchecked) @usableFromInline var isLive = false
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?

  @usableFromInline init(_ target: Target) {
    waiting = target
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
  override var description: String { "Subject" }
  override var customMirror: Mirror {
    Mirror(self, children: ["downstream": target as Any, "upstreamSubscription": up as Any])
  }
}
