extension Publisher {
  /// Drops values until `publisher` delivers one, then delivers the rest.
  ///
  ///     upstream    --1--2--3--4--|
  ///     publisher   -------x--
  ///     downstream  --------3--4--|
  ///
  /// **Demand:** passes through, and dropped values count as delivered, as in Combine: once all the values that a
  /// subscriber has requested have been dropped, it receives nothing until it requests more. One value is requested
  /// from `publisher`, whose subscription lasts until the completion, as in Combine. **Failure:** a failure of either
  /// publisher; if `publisher` finishes without a value, so does this stream. **Cancellation:** cancels both
  /// publishers, as does the completion. **Policy:** forwards the rest.
  @inlinable public func drop<P: Publisher>(
    untilOutputFrom publisher: P
  ) -> Publishers.DropUntilOutput<Self, P> where P.Failure == Failure {
    Publishers.DropUntilOutput(upstream: self, other: publisher)
  }
}

extension Publisher {
  /// `drop(untilOutputFrom:)` with a publisher that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/drop(untilOutputFrom:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func drop<P: Publisher>(
    untilOutputFrom publisher: P
  ) -> Publishers.DropUntilOutput<Self, Publishers.SetFailureType<P, Failure>> where P.Failure == Never {
    drop(untilOutputFrom: publisher.setFailureType(to: Failure.self))
  }
}

extension Publisher where Failure == Never {
  /// `drop(untilOutputFrom:)` for a stream that cannot fail and a publisher that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/drop(untilOutputFrom:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func drop<P: Publisher>(
    untilOutputFrom publisher: P
  ) -> Publishers.DropUntilOutput<Publishers.SetFailureType<Self, P.Failure>, P> {
    setFailureType(to: P.Failure.self).drop(untilOutputFrom: publisher)
  }
}

extension Publishers {
  /// See ``Publisher/drop(untilOutputFrom:)``.
  @frozen public struct DropUntilOutput<Upstream: Publisher, Other: Publisher>: Operator, _JoinsPublishers
  where Upstream.Failure == Other.Failure {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let other: Other

    @inlinable public init(upstream: Upstream, other: Other) {
      self.upstream = upstream
      self.other = other
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = DropUntilOutputStage<Output, Failure>(ErasedSubscriber(subscriber))
      stage.greet()
      stage.trigger.start(other)
      upstream.receive(gated: stage)
    }
  }
}

extension Publishers.DropUntilOutput: Equatable where Upstream: Equatable, Other: Equatable {}

@usableFromInline
final class DropUntilOutputStage<Input, Failure: Error>: DeferredRequestStage<Input, Failure>, Subscriber, GatedStage {
  @usableFromInline let gate = ThreadGate()
  @usableFromInline private(set) lazy var trigger = Trigger<Failure>(
    "DropUntilOutput", gate, combineIdentifier, asking: .max(1), fired: { [weak self] in self?.open() },
    ended: { [weak self] in self?.ended($0) })
  @exclusivity(unchecked) @usableFromInline private(set) var isOpen = false
  /// True when the completion was delivered before upstream's subscription arrived.
  @exclusivity(unchecked) private var isOver = false
  /// The outstanding demand; counted only while values are dropped.
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none

  @usableFromInline override init(_ down: ErasedSubscriber<Input, Failure>) {
    super.init(down)
    joint = gate
    if gate.takesAnyThread { confinement = .anywhere }
  }

  private func open() {
    isOpen = true
    trigger.rest()
  }

  /// Completes the stream. If upstream's subscription has not arrived, this stage stays subscribed to upstream, as in
  /// Combine: when that subscription arrives, the subscriber's demand is requested from it, and it can be cancelled.
  private func ended(_ completion: Subscribers.Completion<Failure>) {
    if isLive {
      stop(completion)
    } else if phase == .waiting, !isOver {
      isOver = true
      down.receive(completion: completion)
    }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard isOpen else {
      demand.takeOne(for: self)
      return .none
    }
    return isLive ? down.receive(input) : .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    trigger.cancel()
    if isOver, takesEvents {
      phase = .ended
      discard(up.take())
    } else {
      finish(completion)
    }
  }

  /// A completion passes through even before the subscription.
  override var strays: Strays { .earlyPass }

  /// A request for zero values passes through, as in Combine.
  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) {
    self.demand += demand
    if demand > .none { super.requested(demand) }
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += trigger.visible
  }

  override func cancelled() {
    super.cancelled()
    trigger.cancel()
  }
}
