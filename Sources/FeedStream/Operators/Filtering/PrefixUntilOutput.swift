extension Publisher {
  /// Delivers values until `publisher` delivers one, then finishes.
  ///
  ///     upstream    --1--2--3--4--|
  ///     publisher   -------x--
  ///     downstream  --1--2-|
  ///
  /// **Demand:** passes through; one value is requested from `publisher`. **Failure:** passes through; the completion
  /// of `publisher` has no effect. **Cancellation:** cancels both publishers. A `publisher` that continues after its
  /// value is not cancelled, as in Combine: if it uses resources, as a timer does, stop it with `first()`. **Policy:**
  /// forwards.
  @inlinable public func prefix<P: Publisher>(untilOutputFrom publisher: P) -> Publishers.PrefixUntilOutput<Self, P> {
    Publishers.PrefixUntilOutput(upstream: self, other: publisher)
  }
}

extension Publishers {
  /// See ``Publisher/prefix(untilOutputFrom:)``.
  @frozen public struct PrefixUntilOutput<Upstream: Publisher, Other: Publisher>: Operator, _JoinsPublishers {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let other: Other

    @inlinable public init(upstream: Upstream, other: Other) {
      self.upstream = upstream
      self.other = other
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = PrefixUntilOutputStage<Output, Failure, Other.Failure>(ErasedSubscriber(subscriber))
      stage.trigger.start(other)
      // The stream has already completed if `other` delivered a value immediately.
      if stage.phase == .waiting { upstream.receive(gated: stage) }
    }
  }
}

extension Publishers.PrefixUntilOutput: Equatable where Upstream: Equatable, Other: Equatable {}

@usableFromInline
final class PrefixUntilOutputStage<Input, Failure: Error, OtherFailure: Error>: Stage<Input, Failure>, Subscriber,
  GatedStage
{
  @usableFromInline let gate = ThreadGate(following: .withoutHome)
  @usableFromInline private(set) lazy var trigger = Trigger<OtherFailure>(
    "PrefixUntilOutput", gate, combineIdentifier, asking: .max(1), fired: { [weak self] in self?.close() },
    ended: { _ in })

  @usableFromInline override init(_ down: ErasedSubscriber<Input, Failure>) {
    super.init(down)
    joint = gate
  }

  private func close() {
    trigger.letGo()
    guard phase == .waiting else { return stop(.finished) }
    phase = .ended
    down.attach(ending: .finished)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand { takesEvents ? down.receive(input) : .none }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    trigger.cancel()
    if takesEvents { finish(completion) } else { phase = .ended }
  }

  /// A request for zero values passes through, as in Combine.
  override var takesNone: Bool { true }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += trigger.visible
  }

  override func cancelled() {
    if phase == .waiting { phase = .ended }
    super.cancelled()
    trigger.cancel()
  }
}
