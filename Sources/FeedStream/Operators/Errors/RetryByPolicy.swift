extension Publisher {
  /// Subscribes again after a failure; `policy` sets the number of retries and the pauses before them.
  ///
  ///     upstream    -a-#
  ///     upstream           -a-b|
  ///     retry(.constant(.seconds(4)), scheduler: loop)
  ///     downstream  -a------a-b|
  ///
  /// **Demand:** each new subscription receives the outstanding demand. **Failure:** passes through when the policy's
  /// limit is reached or `isWorthIt` returns false. **Cancellation:** immediate, even during a pause. **Policy:**
  /// forwards.
  ///
  /// - Parameters:
  ///   - policy: the limit and the pauses. Without a pause, the retry follows immediately, and the stack stays flat.
  ///   - scheduler: measures the pauses and subscribes after them.
  ///   - options: passed on to `scheduler`.
  ///   - generator: the source of random numbers for the policy's jitter; each subscription starts with a copy, so a
  ///     seeded generator gives every subscription the same pauses.
  ///   - isWorthIt: returns true to retry after this error.
  @inlinable public func retry<S: Scheduler>(
    _ policy: RetryPolicy, scheduler: S, options: S.SchedulerOptions? = nil,
    using generator: any RandomNumberGenerator = SystemRandomNumberGenerator(),
    if isWorthIt: @escaping (Failure) -> Bool = { _ in true }
  ) -> Publishers.RetryByPolicy<Self, S> {
    Publishers.RetryByPolicy(
      upstream: self, policy: policy, scheduler: scheduler, options: options, generator: generator, isWorthIt: isWorthIt
    )
  }
}

extension Publishers {
  /// See ``Publisher/retry(_:scheduler:options:using:if:)``.
  public struct RetryByPolicy<Upstream: Publisher, Context: Scheduler>: Operator, _JoinsPublishers {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let policy: RetryPolicy
    public let scheduler: Context
    public let options: Context.SchedulerOptions?
    public let generator: any RandomNumberGenerator
    public let isWorthIt: (Upstream.Failure) -> Bool

    @inlinable public init(
      upstream: Upstream, policy: RetryPolicy, scheduler: Context, options: Context.SchedulerOptions?,
      generator: any RandomNumberGenerator, isWorthIt: @escaping (Upstream.Failure) -> Bool
    ) {
      self.upstream = upstream
      self.policy = policy
      self.scheduler = scheduler
      self.options = options
      self.generator = generator
      self.isWorthIt = isWorthIt
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = RetryByPolicyStage<Output, Failure>(
        ErasedSubscriber(subscriber), policy, generator, isWorthIt,
        alarm: { [scheduler, options] in Alarm(.nanoseconds($0), scheduler, options) },
        attach: { [upstream] in upstream.receive(subscriber: $0) })
      subscriber.receive(subscription: stage)
      stage.start()
    }
  }
}

@usableFromInline final class RetryByPolicyStage<Output, Failure: Error>: SequentialStage<Output, Failure> {
  private let policy: RetryPolicy
  private var generator: any RandomNumberGenerator
  private let isWorthIt: (Failure) -> Bool
  private let alarm: (Int) -> Alarm
  private let attach: (Upstream) -> Void
  @exclusivity(unchecked) private var retries = 0
  @exclusivity(unchecked) private var failures = FailedAttempts()

  @usableFromInline init(
    _ down: ErasedSubscriber<Output, Failure>, _ policy: RetryPolicy, _ generator: any RandomNumberGenerator,
    _ isWorthIt: @escaping (Failure) -> Bool, alarm: @escaping (Int) -> Alarm, attach: @escaping (Upstream) -> Void
  ) {
    self.policy = policy
    self.generator = generator
    self.isWorthIt = isWorthIt
    self.alarm = alarm
    self.attach = attach
    super.init("Retry", down)
  }

  @usableFromInline func start() { subscribe(attach) }

  override func ended(_ completion: Subscribers.Completion<Failure>) {
    guard case .failure(let error) = completion, retries < policy.limit ?? .max, isWorthIt(error) else {
      return end(completion)
    }
    let pause = policy.pause(before: retries, using: &generator)
    retries += 1
    failures.note(error)
    if pause > .zero { subscribe(attach, at: alarm(Int(pause.wholeNanoseconds))) } else { subscribe(attach) }
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    (facts.note, facts.reason, facts.reasonAbove) = (failures.text, failures.text, failures.text)
  }
}
