extension Publisher where Output: Publisher, Output.Failure == Failure {
  /// Delivers the values of the newest publisher received, cancelling the one before.
  ///
  ///     upstream    --a-------b-----|
  ///       a           --1--2--3--|
  ///       b                   --4--5|
  ///     downstream  ----1--2----4--5|
  ///
  /// Finishes when upstream and the newest publisher have. **Demand:** what the last publisher left unused is asked of
  /// the next; upstream is asked for everything. **Failure:** the first, upstream's or the newest publisher's.
  /// **Cancellation:** cancels both.
  @inlinable
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Failure == Never {
  /// Delivers the values of the newest publisher received, cancelling the one before.
  @inlinable
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Publishers.SetFailureType<Self, Output.Failure>> {
    Publishers.SwitchToLatest(upstream: setFailureType(to: Output.Failure.self))
  }
}

extension Publisher where Output: Publisher, Failure == Never, Output.Failure == Never {
  /// Delivers the values of the newest publisher received, cancelling the one before.
  @inlinable
  public func switchToLatest() -> Publishers.SwitchToLatest<Output, Self> {
    Publishers.SwitchToLatest(upstream: self)
  }
}

extension Publisher where Output: Publisher, Output.Failure == Never {
  /// Delivers the values of the newest publisher received, cancelling the one before.
  @inlinable
  public func switchToLatest()
    -> Publishers.SwitchToLatest<
      Publishers.SetFailureType<Output, Failure>, Publishers.Map<Self, Publishers.SetFailureType<Output, Failure>>
    >
  {
    map { $0.setFailureType(to: Failure.self) }.switchToLatest()
  }
}

extension Publisher {
  /// Makes a publisher of each value and delivers the values of the newest, cancelling the one before.
  ///
  /// **Demand, failure, cancellation:** see ``switchToLatest()-(_)``.
  @inlinable
  public func flatMapLatest<P: Publisher>(
    _ transform: @escaping (Output) -> P
  ) -> Publishers.SwitchToLatest<P, Publishers.Map<Self, P>> where P.Failure == Failure {
    map(transform).switchToLatest()
  }
}

extension Publishers {
  /// See ``Publisher/switchToLatest()-(_)``.
  @frozen
  public struct SwitchToLatest<NestedPublisher: Publisher, Upstream: Publisher>: Publisher
  where Upstream.Output == NestedPublisher, Upstream.Failure == NestedPublisher.Failure {
    public typealias Output = NestedPublisher.Output
    public typealias Failure = NestedPublisher.Failure

    public let upstream: Upstream

    @inlinable
    public init(upstream: Upstream) { self.upstream = upstream }

    @inlinable
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = SwitchToLatestStage<NestedPublisher, Output, Failure>(Downstream(subscriber)) { nested, inlet in
        nested.receive(subscriber: inlet)
      }
      stage.down.receive(subscription: stage)
      upstream.receive(subscriber: stage)
    }
  }
}

@usableFromInline
final class SwitchToLatestStage<Input, Output, Failure: Error>: SerialStage<Output, Failure>, Subscriber {
  @usableFromInline
  let attach: (Input, Inlet<SerialPort<Output, Failure>>) -> Void
  @exclusivity(unchecked)
  private var up: (any Subscription)?
  @exclusivity(unchecked)
  private var isFinished = false
  /// Whether upstream's ending was this stream's, and nobody has cancelled since.
  @exclusivity(unchecked)
  private var endsWithUpstream = false

  @inlinable
  init(
    _ down: Downstream<Output, Failure>, _ attach: @escaping (Input, Inlet<SerialPort<Output, Failure>>) -> Void
  ) {
    self.attach = attach
    super.init("SwitchToLatest", down)
  }

  @usableFromInline
  func receive(subscription: any Subscription) {
    guard isActive, up == nil, !isFinished else { return subscription.cancel() }
    up = subscription
    subscription.request(.unlimited)
  }

  @usableFromInline
  func receive(_ input: Input) -> Subscribers.Demand {
    if isActive, !isFinished { subscribe { [attach] in attach(input, $0) } }
    return .none
  }

  @usableFromInline
  func receive(completion: Subscribers.Completion<Failure>) {
    // As in Combine, an upstream that ends again after its ending was passed on is not corrected.
    if endsWithUpstream { return down.receive(completion: completion) }
    guard isActive, !isFinished else { return }
    up = nil
    isFinished = true
    if case .finished = completion, current != nil { return }
    cancel()
    endsWithUpstream = true
    down.receive(completion: completion)
  }

  @usableFromInline
  override func ended(_ completion: Subscribers.Completion<Failure>) {
    switch completion {
    case .finished: if isFinished { end(.finished) }
    case .failure: end(completion)
    }
  }

  /// As in Combine.
  @usableFromInline
  override var leavesLate: Bool { true }

  @usableFromInline
  override func request(_ demand: Subscribers.Demand) {
    demand.assertPositive(self)
    super.request(demand)
  }

  @usableFromInline
  override func cancel() {
    endsWithUpstream = false
    let up = self.up
    self.up = nil
    super.cancel()
    up?.cancel()
  }
}
