extension Publisher {
  /// Drops the first `count` values and delivers the rest.
  ///
  ///     upstream    --a--b--c--d--|
  ///     dropFirst(2)
  ///     downstream  --------c--d--|
  ///
  /// ![dropFirst(2)](marbles-dropFirst.svg)
  ///
  /// **Demand:** passes through; `count` more values are requested at the start, to replace those that are dropped.
  /// **Failure, cancellation:** pass through. **Policy:** forwards the rest.
  ///
  /// - Precondition: `count` is not negative.
  @inlinable public func dropFirst(_ count: Int = 1) -> Publishers.Drop<Self> {
    Publishers.Drop(upstream: self, count: count)
  }
}

extension Publishers {
  /// See ``Publisher/dropFirst(_:)``.
  @frozen public struct Drop<Upstream: Publisher>: Operator {
    public typealias Output = Upstream.Output

    public let upstream: Upstream
    public let count: Int

    @inlinable public init(upstream: Upstream, count: Int) {
      self.upstream = upstream
      self.count = count
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      precondition(count >= 0, "dropFirst(\(count)): the number of values cannot be negative; use 0 or more")
      let stage = DropStage<Output, Failure>(ErasedSubscriber(subscriber), count)
      // Below a publisher that delivers on a queue, the stage lives on that queue, and its subscription is delivered
      // there.
      if !CurrentDomain.hasQueues { stage.greet() }
      upstream.receive(stage: stage)
    }
  }
}

extension Publishers.Drop: Equatable where Upstream: Equatable {}

@usableFromInline final class DropStage<Input, Failure: Error>: DeferredRequestStage<Input, Failure>, Subscriber {
  @exclusivity(unchecked) @usableFromInline var toDrop: Int
  /// True when a cancellation ended the subscription.
  @exclusivity(unchecked) private var isCancelled = false

  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>, _ count: Int) {
    toDrop = count
    super.init(down)
    pending = .max(count)
  }

  /// A subscription that arrives after upstream's completion restarts this stage, as in Combine; after a cancellation,
  /// it is refused.
  @usableFromInline override func receive(subscription: any Subscription) {
    if phase == .ended, !isCancelled {
      phase = .waiting
      pending += .max(toDrop)
    }
    super.receive(subscription: subscription)
  }

  override func cancelled() {
    if phase != .ended { isCancelled = true }
    super.cancelled()
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents || takesStray() else { return .none }
    if toDrop > 0 {
      toDrop &-= 1
      return .none
    }
    return down.receive(input)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  override var strays: Strays { .allPass }
}
