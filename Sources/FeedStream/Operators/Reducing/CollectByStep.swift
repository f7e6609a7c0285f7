extension Publisher {
  /// Delivers arrays of `count` values; a new array begins every `step` values.
  ///
  ///     upstream    --a--b-------c-------d------|
  ///     collect(2, every: 1)
  ///     downstream  -----[a,b]---[b,c]---[c,d]--[d]|
  ///
  ///     upstream    --a--b-----c--d--|
  ///     collect(2, every: 3)
  ///     downstream  -----[a,b]-------[d]|
  ///
  /// If `step` is less than `count`, arrays overlap; if it is greater, the values between them are left out. When
  /// upstream finishes, arrays that have begun, but are not full, are delivered with the values they contain.
  ///
  /// **Demand:** for each array requested, `step` values are requested from upstream, and `count` for the first array.
  /// **Failure:** passes through; the collected values are dropped and reported. **Cancellation:** passes through.
  /// **Policy:** buffers up to `count`; the arrays left at the completion wait for demand.
  ///
  /// - Precondition: `count` and `step` are more than zero.
  @inlinable public func collect(_ count: Int, every step: Int) -> Publishers.CollectByStep<Self> {
    Publishers.CollectByStep(upstream: self, count: count, step: step)
  }
}

extension Publishers {
  /// See ``Publisher/collect(_:every:)``.
  @frozen public struct CollectByStep<Upstream: Publisher>: Operator {
    public typealias Output = [Upstream.Output]

    public let upstream: Upstream
    public let count: Int
    public let step: Int

    @inlinable public init(upstream: Upstream, count: Int, step: Int) {
      precondition(count > 0, "collect(\(count), every: \(step)): an array needs at least 1 value; use 1 or more")
      precondition(
        step > 0, "collect(\(count), every: \(step)): a step of less than 1 never reaches the next array; use 1 or more"
      )
      self.upstream = upstream
      self.count = count
      self.step = step
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      upstream.receive(
        stage: CollectByStepStage<Upstream.Output, Failure>(ErasedSubscriber(subscriber), count, step))
    }
  }
}

extension Publishers.CollectByStep: Equatable where Upstream: Equatable {}

@usableFromInline final class CollectByStepStage<Input, Failure: Error>: Stage<[Input], Failure>, Subscriber {
  @usableFromInline let count: Int
  @usableFromInline let step: Int
  /// The values that have arrived since the start of the oldest array that isn't full.
  @exclusivity(unchecked) @usableFromInline var collected: [Input] = []
  /// The number of values to leave out before the next array begins.
  @exclusivity(unchecked) @usableFromInline var gap = 0
  /// The undelivered arrays: those that are full, and those left at the completion.
  @exclusivity(unchecked) @usableFromInline var ready = FIFO<[Input]>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  @exclusivity(unchecked) @usableFromInline var hasAsked = false
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  /// A failure that arrived while arrays were being delivered.
  @exclusivity(unchecked) @usableFromInline var failure: Subscribers.Completion<Failure>?

  @inlinable init(_ down: ErasedSubscriber<[Input], Failure>, _ count: Int, _ step: Int) {
    self.count = count
    self.step = step
    super.init(down)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, failure == nil else { return .none }
    guard gap == 0 else {
      gap -= 1
      return .none
    }
    collected.append(input)
    guard collected.count == count else { return .none }
    completeArray()
    return deliver()
  }

  /// Makes the oldest array ready, and continues with the next one.
  @inlinable func completeArray() {
    ready.append(collected)
    gap = Swift.max(step - collected.count, 0)
    collected.removeFirst(Swift.min(step, collected.count))
  }

  /// Delivers the requested arrays, and then the completion if upstream has finished.
  ///
  /// - Returns: the demand to request from upstream for the arrays that the subscriber requested during the deliveries.
  @inlinable func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    var more = Subscribers.Demand.none
    while phase != .ended, demand > .none, let array = ready.popFirst() {
      demand.takeOne()
      let asked = down.receive(array)
      demand += asked
      more += asked * step
    }
    isDelivering = false
    if phase == .draining, ready.isEmpty {
      phase = .ended
      down.receive(completion: .finished)
    } else if isLive, let failure {
      fail(failure)
    }
    return isLive ? more : .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, failure == nil else { return }
    discard(up.take())
    if case .failure = completion {
      // Requested arrays are delivered before the failure.
      failure = completion
    } else {
      phase = .draining
      while !collected.isEmpty { completeArray() }
    }
    _ = deliver()
  }

  @inline(never) @usableFromInline func fail(_ completion: Subscribers.Completion<Failure>) {
    while let array = ready.popFirst() {
      StreamDiagnostics.dropped(array, "CollectByStep", .noDemand, atFailure: true)
    }
    for input in collected.take() { StreamDiagnostics.dropped(input, "CollectByStep", .terminated) }
    finish(completion)
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive || phase == .draining else { return }
    self.demand += demand
    let asked = hasAsked ? demand * step : (demand - 1) * step + count
    hasAsked = true
    let more = deliver()
    if isLive { up?.request(asked + more) }
  }

  override func cancelled() {
    super.cancelled()
    discard(collected.take())
    ready.removeAll()
  }
}
