extension Publisher {
  /// Delivers the events of this publisher or another, whichever delivers first, and cancels the other.
  ///
  ///     upstream    -----a--b--|
  ///     other       --1--2--3----|
  ///     race(with: other)
  ///     downstream  --1--2--3----|
  ///
  /// A completion counts as a delivery. A publisher that delivers or completes while it is being subscribed to wins,
  /// and later ones are not subscribed to. **Demand:** passes to both until one has won, then to the winner.
  /// **Failure:** the winner's failure passes through. **Cancellation:** cancels both. **Policy:** forwards the
  /// winner's values; the others deliver none.
  @inlinable public func race<B: Publisher<Output, Failure>>(with other: B) -> Publishers.Race<Self, B> {
    Publishers.Race(self, other)
  }
}

extension Publisher {
  /// Delivers the events of this publisher or of one that cannot fail, whichever delivers first.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/race(with:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func race<B: Publisher<Output, Never>>(
    with other: B
  ) -> Publishers.Race<Self, Publishers.SetFailureType<B, Failure>> {
    race(with: other.setFailureType(to: Failure.self))
  }
}

extension Publisher where Failure == Never {
  /// Delivers the events of this publisher, which cannot fail, or of one that can, whichever delivers first.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/race(with:)``.
  @_documentation(visibility: internal) @_disfavoredOverload @inlinable
  public func race<B: Publisher>(
    with other: B
  ) -> Publishers.Race<Publishers.SetFailureType<Self, B.Failure>, B> where B.Output == Output {
    setFailureType(to: B.Failure.self).race(with: other)
  }
}

extension Swift.Collection where Element: Publisher {
  /// Delivers the events of the publisher that delivers first, and cancels the others.
  ///
  /// Finishes immediately when there are no publishers. **Demand, failure, cancellation, policy:** as in
  /// ``Publisher/race(with:)``.
  public func race() -> Publishers.RaceMany<Element> { Publishers.RaceMany(publishers: Array(self)) }
}

extension Publishers {
  /// See ``Publisher/race(with:)``.
  @frozen public struct Race<A: Publisher, B: Publisher<A.Output, A.Failure>>: Publisher, _JoinsPublishers {
    public typealias Output = A.Output
    public typealias Failure = A.Failure

    public let a: A
    public let b: B

    @inlinable public init(_ a: A, _ b: B) {
      self.a = a
      self.b = b
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      RaceStage(ErasedSubscriber(subscriber)).start([{ a.receive(subscriber: $0) }, { b.receive(subscriber: $0) }])
    }
  }

  /// See `Collection.race()`.
  @frozen public struct RaceMany<Upstream: Publisher>: Publisher, _JoinsPublishers {
    public typealias Output = Upstream.Output
    public typealias Failure = Upstream.Failure

    public let publishers: [Upstream]

    @inlinable public init(publishers: [Upstream]) { self.publishers = publishers }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      RaceStage(ErasedSubscriber(subscriber)).start(
        publishers.map { publisher in { publisher.receive(subscriber: $0) } })
    }
  }
}

extension Publishers.Race: Equatable where A: Equatable, B: Equatable {}
extension Publishers.RaceMany: Equatable where Upstream: Equatable {}

@usableFromInline final class RaceStage<Output, Failure: Error>: Junction<Output, Failure> {
  /// The upstream that delivered first, which is the only one from then on.
  @exclusivity(unchecked) @usableFromInline var winner: Inlet<RacePort<Output, Failure>>?
  @exclusivity(unchecked) private var runners: [Inlet<RacePort<Output, Failure>>] = []

  @usableFromInline init(_ down: ErasedSubscriber<Output, Failure>) { super.init("Race", down) }

  @usableFromInline func start(_ upstreams: [(Inlet<RacePort<Output, Failure>>) -> Void]) {
    guard entry.enter() else { return }
    runners = upstreams.map { _ in Inlet(self) }
    down.receive(subscription: self)
    for (attach, runner) in zip(upstreams, runners) where isActive && winner == nil { attach(runner) }
    if upstreams.isEmpty { end(.finished) }
    entry.leave()
  }

  fileprivate func began(_ inlet: Inlet<RacePort<Output, Failure>>) {
    guard isActive, winner == nil || winner === inlet else { return inlet.cancel() }
    if demand > .none { inlet.request(demand) }
  }

  @inline(never) @usableFromInline func win(_ inlet: Inlet<RacePort<Output, Failure>>) {
    winner = inlet
    for runner in takeRunners() where runner !== inlet { runner.cancel() }
  }

  fileprivate func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<RacePort<Output, Failure>>) {
    guard isActive else { return }
    if winner == nil { win(inlet) }
    // The winner has completed, so there is nothing to cancel.
    winner = nil
    end(completion)
  }

  private func takeRunners() -> [Inlet<RacePort<Output, Failure>>] {
    defer { runners = [] }
    return runners
  }

  override func requested(_ demand: Subscribers.Demand) {
    if let winner { return winner.request(demand) }
    self.demand += demand
    for runner in runners where isActive && runner.isLive { runner.request(demand) }
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    // Once there is a winner, requests go to it without being counted.
    if winner != nil { facts.demand = nil }
    facts.upstreams = (winner.map { [$0] } ?? runners).flatMap(\.visible)
  }

  override func cancelUpstreams() {
    winner.take()?.cancel()
    for runner in takeRunners() { runner.cancel() }
  }
}

@usableFromInline enum RacePort<Output, Failure: Error>: Port {
  @usableFromInline typealias Input = Output
  @usableFromInline typealias Owner = RaceStage<Output, Failure>

  @usableFromInline static func began(_ inlet: Inlet<Self>) { inlet.owner.began(inlet) }
  @inlinable static func receive(_ input: Output, _ inlet: Inlet<Self>) -> Subscribers.Demand {
    // The first upstream to deliver cancels the others, which then cannot deliver.
    if inlet.owner.winner == nil { inlet.owner.win(inlet) }
    return inlet.isLive ? inlet.owner.down.receive(input) : .none
  }
  @usableFromInline static func ended(_ completion: Subscribers.Completion<Failure>, _ inlet: Inlet<Self>) {
    inlet.owner.ended(completion, inlet)
  }
}
