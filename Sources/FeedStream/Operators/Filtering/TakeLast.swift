extension Publisher {
  /// Delivers the last `count` values, when upstream finishes.
  ///
  ///     upstream    --a--b--c--|
  ///     takeLast(2)
  ///     downstream  -----------(bc)|
  ///
  /// **Demand:** requests everything from upstream; the kept values are delivered as they are requested, and the
  /// completion follows the last of them. **Failure:** passes through immediately; the kept values are dropped and
  /// reported. **Cancellation:** passes through. **Policy:** keeps `count` values and drops older ones, by design.
  ///
  /// - Precondition: `count` is not negative.
  @inlinable
  public func takeLast(_ count: Int) -> Publishers.TakeLast<Self> { Publishers.TakeLast(upstream: self, count: count) }
}

extension Publishers {
  /// See ``Publisher/takeLast(_:)``.
  @frozen public struct TakeLast<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let count: Int

    @inlinable public init(upstream: Upstream, count: Int) {
      precondition(count >= 0, "takeLast(\(count)): the number of values cannot be negative; use 0 or more")
      self.upstream = upstream
      self.count = count
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(stage: TakeLastStage<Output, Failure>(ErasedSubscriber(subscriber), count))
    }
  }
}

extension Publishers.TakeLast: Equatable where Upstream: Equatable {}

@usableFromInline final class TakeLastStage<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  @usableFromInline let count: Int
  @exclusivity(unchecked) @usableFromInline var kept = FIFO<Input>()
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  @exclusivity(unchecked) private var isDelivering = false

  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>, _ count: Int) {
    self.count = count
    super.init(down)
  }

  override func began() {
    super.began()
    up?.request(.unlimited)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, count > 0 else { return .none }
    let oldest = kept.count == count ? kept.popFirst() : nil
    kept.append(input)
    discard(oldest)
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents else { return }
    guard case .finished = completion else {
      while let value = kept.popFirst() { StreamDiagnostics.dropped(value, "TakeLast", .terminated) }
      return finish(completion)
    }
    phase = .draining
    discard(up.take())
    deliver()
  }

  private func deliver() {
    guard phase == .draining, !isDelivering else { return }
    isDelivering = true
    while phase == .draining, demand > .none, let value = kept.popFirst() {
      demand.takeOne()
      demand += down.receive(value)
    }
    isDelivering = false
    guard phase == .draining, kept.isEmpty else { return }
    phase = .ended
    down.receive(completion: .finished)
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard phase != .ended else { return }
    self.demand += demand
    deliver()
  }

  override func forget() { kept.removeAll() }
}
