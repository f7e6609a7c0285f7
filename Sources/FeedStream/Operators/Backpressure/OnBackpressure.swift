extension Publisher {
  /// Drops values that the subscriber has not requested.
  ///
  ///     upstream    --a--b--c--d--|
  ///     demand      1--------1-----
  ///     onBackpressureDrop()
  ///     downstream  --a--------d--|
  ///
  /// **Demand:** requests everything from upstream. **Failure, cancellation:** pass through. **Policy:** dropped values
  /// go to `onDrop`, and are reported to ``StreamDiagnostics/onDrop(_:)``.
  ///
  /// - Parameter onDrop: receives each dropped value.
  @inlinable public func onBackpressureDrop(_ onDrop: ((Output) -> Void)? = nil) -> Publishers.OnBackpressure<Self> {
    Publishers.OnBackpressure(upstream: self, strategy: .drop, onDrop: onDrop)
  }

  /// Holds the newest value that the subscriber has not requested, and drops older ones.
  ///
  ///     upstream    --a--b--c--d--|
  ///     demand      1---------1----1
  ///     onBackpressureLatest()
  ///     downstream  --a-------c----(d|)
  ///
  /// **Demand:** requests everything from upstream. **Failure:** passes through immediately; a held value is dropped.
  /// `.finished` waits until the held value has been requested. **Cancellation:** passes through. **Policy:** dropped
  /// values go to `onDrop`, and are reported to ``StreamDiagnostics/onDrop(_:)``.
  ///
  /// - Parameter onDrop: receives each dropped value.
  @inlinable public func onBackpressureLatest(_ onDrop: ((Output) -> Void)? = nil) -> Publishers.OnBackpressure<Self> {
    Publishers.OnBackpressure(upstream: self, strategy: .latest, onDrop: onDrop)
  }

  /// Fails at the first value that the subscriber has not requested.
  ///
  ///     upstream    --a--b--c--d--|
  ///     demand      1---------------
  ///     onBackpressureError { TooFast($0) }
  ///     downstream  --a--#
  ///
  /// **Demand:** requests everything from upstream. **Failure:** passes through; the operator's own failure cancels
  /// upstream.
  /// **Cancellation:** passes through. **Policy:** the value is passed to `makeError`.
  ///
  /// - Parameter makeError: makes the failure.
  @inlinable
  public func onBackpressureError(_ makeError: @escaping (Output) -> Failure) -> Publishers.OnBackpressure<Self> {
    Publishers.OnBackpressure(upstream: self, strategy: .fail(makeError), onDrop: nil)
  }
}

extension Publishers {
  /// See ``Publisher/onBackpressureDrop(_:)``.
  public struct OnBackpressure<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    /// The treatment of a value that has not been requested.
    public enum Strategy {
      case drop
      case latest
      case fail((Upstream.Output) -> Upstream.Failure)
    }

    public let upstream: Upstream
    public let strategy: Strategy
    public let onDrop: ((Upstream.Output) -> Void)?

    @inlinable public init(upstream: Upstream, strategy: Strategy, onDrop: ((Upstream.Output) -> Void)?) {
      self.upstream = upstream
      self.strategy = strategy
      self.onDrop = onDrop
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage: OnBackpressureStage<Output, Failure> =
        switch strategy {
        case .drop: OnBackpressureStage(ErasedSubscriber(subscriber), holds: false, onDrop, makeError: nil)
        case .latest: OnBackpressureStage(ErasedSubscriber(subscriber), holds: true, onDrop, makeError: nil)
        case .fail(let makeError):
          OnBackpressureStage(ErasedSubscriber(subscriber), holds: false, onDrop, makeError: makeError)
        }
      upstream.receive(stage: stage)
    }
  }
}

@usableFromInline final class OnBackpressureStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  private let holds: Bool
  private let onDrop: ((Input) -> Void)?
  private let makeError: ((Input) -> Failure)?
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  @exclusivity(unchecked) private var held: Input?
  /// True while `held` holds a value: later values must not overtake it.
  @exclusivity(unchecked) @usableFromInline var isHolding = false
  /// True when upstream has completed. The held value is delivered first, if it is requested.
  @exclusivity(unchecked) @usableFromInline var hasEnding = false
  @exclusivity(unchecked) private var ending = Subscribers.Completion<Failure>.finished

  @usableFromInline init(
    _ down: ErasedSubscriber<Input, Failure>, holds: Bool, _ onDrop: ((Input) -> Void)?,
    makeError: ((Input) -> Failure)?
  ) {
    self.holds = holds
    self.onDrop = onDrop
    self.makeError = makeError
    super.init(down)
  }

  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, !hasEnding else { return .none }
    if demand == .none || isHolding { overflow(input) } else { deliver(input) }
    return .none
  }

  @inlinable func deliver(_ input: Input) {
    let isOutermost = !isDelivering
    isDelivering = true
    demand.takeOne()
    demand += down.receive(input)
    if isOutermost {
      isDelivering = false
      // A value that was held and then requested during the delivery is now due.
      if demand > .none || hasEnding { deliverHeld() }
    }
  }

  @inline(never) @usableFromInline func overflow(_ input: Input) {
    if let makeError { return stop(.failure(makeError(input))) }
    guard holds else { return drop(input, .noDemand) }
    let older = exchange(&held, with: input)
    isHolding = true
    if let older { drop(older, .bufferFull) }
  }

  private func drop(_ input: Input, _ reason: DroppedValue.Reason) {
    StreamDiagnostics.dropped(input, holds ? "OnBackpressureLatest" : "OnBackpressureDrop", reason, isPolicy: true)
    onDrop?(input)
  }

  /// Delivers the held value, if it has been requested, and then values that are held and requested during that
  /// delivery. The loop keeps the stack flat.
  @inline(never) @usableFromInline func deliverHeld() {
    guard !isDelivering else { return }
    isDelivering = true
    while isLive, demand > .none, let value = held {
      held = nil
      isHolding = false
      demand.takeOne()
      demand += down.receive(value)
    }
    isDelivering = false
    if hasEnding { endIfDelivered() }
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.demand = demand
    facts.held = held == nil ? 0 : 1
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, !hasEnding else { return }
    guard isHolding else { return finish(completion) }
    discard(up.take())
    hasEnding = true
    ending = completion
    if !isDelivering { endIfDelivered() }
  }

  /// Completes, unless the held value must come first. A held value that has not been requested does not delay a
  /// failure.
  private func endIfDelivered() {
    guard isLive else { return }
    if let held, case .failure = ending {
      self.held = nil
      isHolding = false
      drop(held, .noDemand)
    }
    if held == nil { finish(ending) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    deliverHeld()
  }

  override func forget() {
    isHolding = false
    discard(held.take())
  }
}
