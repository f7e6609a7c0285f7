extension Publisher {
  /// Makes a publisher from each value and delivers the values of all these publishers, as they arrive.
  ///
  ///     upstream    --a-------b-------|
  ///     flatMap { Timer… }
  ///       a           --1--2--3|
  ///       b                   --4--5|
  ///     downstream  ----1--2--3-4--5--|
  ///
  /// ![flatMap { answers($0) }](marbles-flatMap.svg)
  ///
  /// **Demand:** `maxPublishers` values are requested from upstream at a time. While the subscriber's demand is
  /// unlimited, everything is requested from each publisher; otherwise, one value at a time. **Failure:** the first
  /// failure, upstream's or a publisher's, ends the stream and cancels the other publishers; held values are dropped
  /// and reported. **Cancellation:** cancels all. **Policy:** holds values that have not been requested, one per
  /// publisher that respects the demand. A publisher that has finished still counts as active while one of its values
  /// is held.
  ///
  /// - Parameters:
  ///   - maxPublishers: the number of publishers that may be active at the same time; this many values are requested
  ///     from upstream initially. With `.max(1)`, the publishers follow one another. With `.none`, no value could ever
  ///     arrive, so a request traps.
  ///   - transform: makes a publisher from a value.
  @inlinable public func flatMap<T, P: Publisher<T, Failure>>(
    maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<P, Self> {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }

  /// From each value, makes a publisher that cannot fail, and delivers the values of all these publishers.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMap(maxPublishers:_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMap<P: Publisher>(
    maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<Publishers.SetFailureType<P, Failure>, Self> where P.Failure == Never {
    flatMap(maxPublishers: maxPublishers) { transform($0).setFailureType(to: Failure.self) }
  }
}

extension Publisher where Failure == Never {
  /// `flatMap` for a stream that cannot fail and publishers that can.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMap(maxPublishers:_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMap<P: Publisher>(
    maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<P, Publishers.SetFailureType<Self, P.Failure>> {
    setFailureType(to: P.Failure.self).flatMap(maxPublishers: maxPublishers, transform)
  }

  /// `flatMap` for a stream and publishers that cannot fail.
  ///
  /// **Demand, failure, cancellation, policy:** as in `flatMap(maxPublishers:_:)` when both can fail.
  @_disfavoredOverload @inlinable public func flatMap<P: Publisher>(
    maxPublishers: Subscribers.Demand = .unlimited, _ transform: @escaping (Output) -> P
  ) -> Publishers.FlatMap<P, Self> where P.Failure == Never {
    Publishers.FlatMap(upstream: self, maxPublishers: maxPublishers, transform: transform)
  }
}

extension Publishers {
  /// See `flatMap(maxPublishers:_:)`.
  @frozen public struct FlatMap<NewPublisher: Publisher, Upstream: Publisher>: Operator, _JoinsPublishers
  where NewPublisher.Failure == Upstream.Failure {
    public typealias Output = NewPublisher.Output

    public let upstream: Upstream
    public let maxPublishers: Subscribers.Demand
    public let transform: (Upstream.Output) -> NewPublisher

    @inlinable public init(
      upstream: Upstream, maxPublishers: Subscribers.Demand,
      transform: @escaping (Upstream.Output) -> NewPublisher
    ) {
      self.upstream = upstream
      self.maxPublishers = maxPublishers
      self.transform = transform
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = FlatMapStage<Upstream.Output, Output, Failure>(ErasedSubscriber(subscriber), maxPublishers) {
        [transform] input, stage in
        stage.attach { transform(input) }
      }
      // The stage lives where upstream delivers. If that may be a queue, the place is known only when upstream's
      // subscription arrives; the subscriber receives its own subscription then.
      if CurrentDomain.hasQueues { return stage.begin { upstream.receive(subscriber: stage) } }
      stage.down.receive(subscription: stage)
      upstream.receive(subscriber: stage)
    }
  }
}

@usableFromInline final class FlatMapStage<Input, Output, Failure: Error>: MergeStage<Output, Failure>, Subscriber {
  @usableFromInline let maxPublishers: Subscribers.Demand
  @usableFromInline let attach: (Input, FlatMapStage) -> Void
  @exclusivity(unchecked) @usableFromInline var up: (any Subscription)?
  /// True when the subscriber receives its subscription together with upstream's, not before.
  @exclusivity(unchecked) private var beginsLate = false
  /// Upstream's events.
  private let line = EventLine()

  @inlinable init(
    _ down: ErasedSubscriber<Output, Failure>, _ maxPublishers: Subscribers.Demand,
    _ attach: @escaping (Input, FlatMapStage) -> Void
  ) {
    self.maxPublishers = maxPublishers
    self.attach = attach
    super.init("FlatMap", down)
  }

  @usableFromInline func receive(subscription: any Subscription) {
    // Requests and cancellations may come from any thread, because the gate moves them to the queue.
    if gate.follow() { confinement = .anywhere } else { subscription.join(gate) }
    guard entry.enter() else { return bring(ArrivingSubscription.event(subscription, accept)) }
    accept(subscription)
    entry.leave()
  }

  @inline(never) @usableFromInline func bring(_ event: @escaping () -> Void) {
    line.add(event) { gate.perform($0) }
  }

  private func accept(_ subscription: any Subscription) {
    guard isActive, isOpen, up == nil else { return subscription.cancel() }
    up = subscription
    if beginsLate { down.receive(subscription: self) }
    if isActive { subscription.request(maxPublishers) }
  }

  @inline(never) @usableFromInline func begin(_ subscribe: () -> Void) {
    beginsLate = true
    subscribe()
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.upstreams += [up].compactMap { $0 }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard entry.enter() else {
      bring { [self] in take(input) }
      return .none
    }
    take(input)
    entry.leave()
    return .none
  }

  @inlinable func take(_ input: Input) { if isActive, isOpen { attach(input, self) } }

  /// True when values may go to the subscriber immediately, because its demand is unlimited and no value waits.
  @inlinable var isDirect: Bool { demand == .unlimited && waiting.isEmpty && !isDraining }

  /// Subscribes to the publisher that `make` returns. If values may go to the subscriber immediately, a `Just` or a
  /// sequence delivers its values without a subscription, which would take three allocations (250 ns).
  @inlinable func attach<P: Publisher<Output, Failure>>(_ make: () -> P) {
    // Count this publisher, so that the stream's completion waits for it, as it would for an inlet.
    directDeliveries &+= 1
    let publisher = make()
    let isDelivered =
      isDirect
      && publisher._deliverAll {
        if isActive { _ = down.receive($0) }
        return isActive
      }
    guard isDelivered else {
      let inlet = addInlet()
      directDeliveries &-= 1
      return gate.atHome { publisher.receive(subscriber: inlet) }
    }
    directDeliveries &-= 1
    if !isOpen { finishIfDone() }
    if maxPublishers != .unlimited, isActive { inletFinished() }
  }

  @inlinable func receive(completion: Subscribers.Completion<Failure>) {
    guard entry.enter() else { return bring { [self] in upstreamEnded(completion) } }
    upstreamEnded(completion)
    entry.leave()
  }

  @inlinable func upstreamEnded(_ completion: Subscribers.Completion<Failure>) {
    guard isOpen else { return }
    discard(up.take())
    switch completion {
    case .finished: close()
    case .failure: fail(completion)
    }
  }

  @inlinable override func inletFinished() {
    if maxPublishers != .unlimited { up?.request(.max(1)) }
  }

  /// Checks `maxPublishers` at a request, not earlier: as in Combine, upstream is subscribed to even with `.none`.
  @inlinable override func requested(_ demand: Subscribers.Demand) {
    precondition(
      maxPublishers > .none,
      "flatMap(maxPublishers: .none): no publisher could be active, so no value could arrive; use .max(1) or more")
    super.requested(demand)
  }

  @usableFromInline override func stopUpstreams() {
    let up = self.up.take()
    super.stopUpstreams()
    up?.cancel()
  }
}
