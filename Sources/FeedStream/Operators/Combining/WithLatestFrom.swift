extension Publisher {
  /// Pairs each value with the newest value of another publisher.
  ///
  ///     upstream    --a-----b--c----|
  ///     other       -----1-------2---
  ///     withLatestFrom(other)
  ///     downstream  --------b1-c1---|
  ///
  /// ![withLatestFrom(other) { $0 + $1 }](marbles-withLatestFrom.svg)
  ///
  /// Finishes when upstream does, or when `other` finishes without a value; if `other` finishes after a value, its last
  /// value stays in use. **Demand:** passes through to upstream; one more value is requested for each one dropped.
  /// Requests everything from `other` before it subscribes to upstream. **Failure:** the first failure of either
  /// publisher. **Cancellation:** cancels both. **Policy:** drops values that arrive before `other` has delivered, by
  /// design.
  @inlinable
  public func withLatestFrom<P: Publisher>(_ other: P) -> Publishers.WithLatestFrom<Self, P, (Output, P.Output)>
  where P.Failure == Failure {
    withLatestFrom(other) { ($0, $1) }
  }

  /// Combines each value with the newest value of another publisher, using `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in `withLatestFrom(_:)` when both can fail.
  @inlinable public func withLatestFrom<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.WithLatestFrom<Self, P, T> where P.Failure == Failure {
    Publishers.WithLatestFrom(upstream: self, other: other, transform: transform)
  }
}

extension Publisher {
  /// Pairs each value with the newest value of a publisher that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/withLatestFrom(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func withLatestFrom<P: Publisher>(
    _ other: P
  ) -> Publishers.WithLatestFrom<Self, Publishers.SetFailureType<P, Failure>, (Output, P.Output)>
  where P.Failure == Never {
    withLatestFrom(other.setFailureType(to: Failure.self))
  }

  /// Combines each value with the newest value of a publisher that cannot fail, using `transform`.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/withLatestFrom(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func withLatestFrom<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.WithLatestFrom<Self, Publishers.SetFailureType<P, Failure>, T> where P.Failure == Never {
    withLatestFrom(other.setFailureType(to: Failure.self), transform)
  }
}

extension Publisher where Failure == Never {
  /// Pairs each value of this publisher, which cannot fail, with the newest value of a publisher that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/withLatestFrom(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func withLatestFrom<P: Publisher>(
    _ other: P
  ) -> Publishers.WithLatestFrom<Publishers.SetFailureType<Self, P.Failure>, P, (Output, P.Output)> {
    setFailureType(to: P.Failure.self).withLatestFrom(other)
  }

  /// Combines each value of this publisher, which cannot fail, with the newest value of a publisher that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/withLatestFrom(_:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func withLatestFrom<P: Publisher, T>(
    _ other: P, _ transform: @escaping (Output, P.Output) -> T
  ) -> Publishers.WithLatestFrom<Publishers.SetFailureType<Self, P.Failure>, P, T> {
    setFailureType(to: P.Failure.self).withLatestFrom(other, transform)
  }
}

extension Publishers {
  /// See `withLatestFrom(_:)`.
  @frozen public struct WithLatestFrom<Upstream: Publisher, Other: Publisher, Output>: Operator, _JoinsPublishers
  where Upstream.Failure == Other.Failure {
    public let upstream: Upstream
    public let other: Other
    public let transform: (Upstream.Output, Other.Output) -> Output

    @inlinable public init(
      upstream: Upstream, other: Other, transform: @escaping (Upstream.Output, Other.Output) -> Output
    ) {
      self.upstream = upstream
      self.other = other
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = WithLatestFromStage<Upstream.Output, Other.Output, Output, Failure>(
        ErasedSubscriber(subscriber), transform)
      other.receive(subscriber: stage.newOther())
      upstream.receive(gated: stage)
    }
  }
}

@usableFromInline
final class WithLatestFromStage<Input, Other, Output, Failure: Error>: Stage<Output, Failure>, Subscriber, GatedStage {
  @usableFromInline let gate = ThreadGate(following: .withoutHome)
  @usableFromInline let transform: (Input, Other) -> Output
  @exclusivity(unchecked) @usableFromInline var latest: Other?
  @exclusivity(unchecked) private var other: Inlet<LatestPort<Input, Other, Output, Failure>>?
  /// The completion that the other publisher caused before upstream's subscription arrived.
  @exclusivity(unchecked) private var early: Subscribers.Completion<Failure>?

  @usableFromInline init(_ down: ErasedSubscriber<Output, Failure>, _ transform: @escaping (Input, Other) -> Output) {
    self.transform = transform
    super.init(down)
    joint = gate
  }

  @usableFromInline func newOther() -> Inlet<LatestPort<Input, Other, Output, Failure>> {
    let inlet = Inlet<LatestPort<Input, Other, Output, Failure>>(self)
    other = inlet
    return inlet
  }

  @usableFromInline override func began() {
    if let early { began(completing: early) } else { super.began() }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents else { return .none }
    guard let latest else { return .max(1) }
    return down.receive(transform(input, latest))
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    letGoOfOther()
    finish(completion)
  }

  fileprivate func otherEnded(_ completion: Subscribers.Completion<Failure>) {
    discard(other.take())
    if case .finished = completion, latest != nil { return }
    if phase == .waiting { early = completion } else { stop(completion) }
  }

  private func letGoOfOther() {
    let other = self.other
    self.other = nil
    other?.cancel()
  }

  @usableFromInline override func cancelled() {
    super.cancelled()
    letGoOfOther()
  }

  override func forget() { discard(latest.take()) }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += other?.visible ?? []
    if latest == nil { facts.reason = "the other publisher has delivered no value yet" }
  }
}

@usableFromInline enum LatestPort<Input, Other, Output, Failure: Error>: Port {
  @usableFromInline typealias Owner = WithLatestFromStage<Input, Other, Output, Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) { inlet.request(.unlimited) }
  @inlinable static func receive(_ input: Other, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    discard(exchange(&inlet.owner.latest, with: input))
    return .none
  }
  @usableFromInline static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.otherEnded(completion)
  }
}
