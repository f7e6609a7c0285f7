import Synchronization

extension Publisher {
  /// Subscribes again when this publisher fails, up to `retries` times.
  ///
  ///     upstream    --a--#             (first time)
  ///     upstream         --a--b--|     (second time)
  ///     retry(1)
  ///     downstream  --a----a--b--|
  ///
  /// ![retry(1)](marbles-retry.svg)
  ///
  /// If the failure arrives during the call that subscribes, the retry waits until that call has returned.
  ///
  /// **Demand:** the outstanding demand is requested again from upstream. **Failure:** passes through when no retries
  /// are left. **Cancellation:** passes through; no retry follows. **Policy:** forwards.
  ///
  /// - Parameter retries: the number of times to subscribe again, 0 or more. For retries without a limit, and for
  ///   pauses between the attempts, see `retry(_:scheduler:)` with a ``RetryPolicy``.
  @inlinable public func retry(_ retries: Int) -> Publishers.Retry<Self> {
    precondition(
      retries >= 0,
      "retry(\(retries)): the number of retries cannot be negative; use 0 or more, or Publishers.Retry(retries: nil)")
    return Publishers.Retry(upstream: self, retries: retries)
  }
}

extension Publishers {
  /// See ``Publisher/retry(_:)``.
  @frozen public struct Retry<Upstream: Publisher>: Operator, _JoinsPublishers {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    /// The number of retries; `nil` means no limit, and so does a negative number, as in Combine.
    public let retries: Int?

    @inlinable public init(upstream: Upstream, retries: Int?) {
      self.upstream = upstream
      self.retries = retries
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = RetryStage<Output, Failure>(ErasedSubscriber(subscriber), retries) { [upstream] in
        upstream.receive($0, through: $0.gate, isFollowed: true)
      }
      stage.start()
    }
  }
}

extension Publishers.Retry: Equatable where Upstream: Equatable {}

@usableFromInline final class RetryStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  private let subscribe: (RetryStage) -> Void
  /// The number of retries that are left; negative if there is no limit.
  private var retriesLeft: Int
  /// The outstanding demand.
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  /// The subscriber's only subscription, although this stage may receive many from upstream. It is released at the
  /// completion.
  private weak var leash: DetachableSubscription?
  @exclusivity(unchecked) private var failures = FailedAttempts()
  @usableFromInline let gate = ThreadGate.ofSuccession()
  // Atomic: one thread may subscribe while another delivers the failure of the new subscription.
  private let attempt = Atomic(Attempt.none)

  @usableFromInline
  init(_ down: ErasedSubscriber<Input, Failure>, _ retries: Int?, _ subscribe: @escaping (RetryStage) -> Void) {
    self.subscribe = subscribe
    retriesLeft = retries ?? -1
    super.init(down)
    joint = gate
  }

  @usableFromInline override func receive(subscription: any Subscription) {
    guard isLive, up == nil else {
      super.receive(subscription: subscription)
      return
    }
    attach(subscription)
    if demand > .none { up?.request(demand) }
  }

  @usableFromInline override func began() {
    let leash = DetachableSubscription("Retry", self)
    self.leash = leash
    down.receive(subscription: leash)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents || takesStray() else { return .none }
    demand.takeOne(for: self)
    let more = down.receive(input)
    if more > .none { requested(more) }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard phase != .ended else { return }
    guard case .failure(let error) = completion, retriesLeft != 0 else {
      phase = .ended
      discard(up.take())
      leash?.release()
      down.receive(completion: completion)
      return
    }
    if retriesLeft > 0 { retriesLeft -= 1 }
    failures.note(error)
    discard(up.take())
    start()
  }

  /// Subscribes to upstream. A nested call leaves the subscription to the outer call, so that the stack stays flat
  /// after any number of failures in a row.
  @usableFromInline func start() {
    guard begins() else { return }
    repeat {
      attempt.store(.running, ordering: .releasing)
      if phase != .ended { if let gate { gate.atHome { subscribe(self) } } else { subscribe(self) } }
    } while !attempt.compareExchange(expected: .running, desired: .none, ordering: .acquiringAndReleasing).exchanged
  }

  /// - Returns: false if the call that is subscribing has been told to subscribe again.
  private func begins() -> Bool {
    while true {
      switch attempt.load(ordering: .acquiring) {
      case .none:
        if attempt.compareExchange(expected: .none, desired: .running, ordering: .acquiringAndReleasing).exchanged {
          return true
        }
      case .running:
        if attempt.compareExchange(expected: .running, desired: .repeating, ordering: .acquiringAndReleasing).exchanged
        {
          return false
        }
      case .repeating: return false
      }
    }
  }

  private enum Attempt: UInt8, AtomicRepresentable {
    case none, running
    /// Running, and to be repeated.
    case repeating
  }

  @usableFromInline override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    up?.request(demand)
  }

  @usableFromInline override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    (facts.note, facts.reasonAbove) = (failures.text, failures.text)
  }

  @usableFromInline override var strays: Strays { .earlyTraps }
}
