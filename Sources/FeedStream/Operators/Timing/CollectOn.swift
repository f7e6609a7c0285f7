extension Publisher {
  /// Delivers in one array what arrived since the last time, whenever `trigger` delivers.
  ///
  ///     upstream    -a-b---c-----|
  ///     trigger     ----x----x-x---
  ///     buffer(on: trigger)
  ///     downstream  ----[a,b]-[c]--|
  ///
  /// A trigger without values before it makes no array. The trigger's ending delivers what is left and ends the stream.
  ///
  /// **Policy:** keeps what arrived until it is asked for, then delivers it immediately; unbounded. **Demand:**
  /// unlimited, of upstream and trigger. **Failure:** passes through immediately; what was collected is dropped, and
  /// reported. When upstream finishes, what was collected is delivered first. **Cancellation:** both, immediately.
  ///
  /// - Parameter trigger: says when; its values do not matter, and it cannot fail.
  @inlinable public func buffer<Trigger: Publisher>(on trigger: Trigger) -> Publishers.CollectOn<Self, Trigger>
  where Trigger.Failure == Never {
    Publishers.CollectOn(upstream: self, trigger: trigger)
  }
}

extension Publishers {
  /// See ``Publisher/buffer(on:)``.
  public struct CollectOn<Upstream: Publisher, Trigger: Publisher>: Publisher where Trigger.Failure == Never {
    public typealias Output = [Upstream.Output]
    public typealias Failure = Upstream.Failure

    public let upstream: Upstream
    public let trigger: Trigger

    @inlinable public init(upstream: Upstream, trigger: Trigger) {
      self.upstream = upstream
      self.trigger = trigger
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = CollectOnStage<Upstream.Output, Failure>("CollectOn", ErasedSubscriber(subscriber), count: nil)
      upstream.receive(subscriber: stage)
      stage.start(trigger)
    }
  }
}

extension Publishers.CollectOn: Equatable where Upstream: Equatable, Trigger: Equatable {}

@usableFromInline final class CollectOnStage<Input, Failure: Error>: TriggeredStage<[Input], Failure>, Subscriber {
  private let source: StaticString
  /// How many values make an array without a trigger; `nil` for any number.
  private let count: Int?
  @exclusivity(unchecked) private var collected: [Input] = []
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  /// True when what was collected is to be delivered as soon as it is asked for.
  @exclusivity(unchecked) private var isDue = false
  /// True when upstream has finished: what is left is due, and the ending after it.
  @exclusivity(unchecked) private var isFinished = false
  @exclusivity(unchecked) private var isDelivering = false

  @usableFromInline init(_ name: StaticString, _ down: ErasedSubscriber<[Input], Failure>, count: Int?) {
    source = name
    self.count = count
    super.init(name, down)
  }

  override func began() {
    super.began()
    if count == nil { up?.request(.unlimited) }
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive, !isFinished else { return .none }
    collected.append(input)
    return collected.count == count ? upstreamDemand(for: deliver()) : .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive, !isFinished else { return }
    trigger?.cancel()
    if case .finished = completion { return finishWhenDelivered() }
    for input in collected { StreamDiagnostics.dropped(input, source, .terminated) }
    collected = []
    finish(completion)
  }

  private func finishWhenDelivered() {
    isFinished = true
    _ = deliver()
  }

  override func triggered() {
    isDue = true
    request(upstream: deliver())
  }

  override func triggerEnded() {
    up.take()?.cancel()
    finishWhenDelivered()
  }

  override var needsTrigger: Bool { super.needsTrigger && !isFinished }

  /// Delivers the arrays that are due or full, as far as they are asked for, and returns what was asked for meanwhile.
  private func deliver() -> Subscribers.Demand {
    guard !isDelivering else { return .none }
    isDelivering = true
    var asked = Subscribers.Demand.none
    while isLive, demand > .none, !collected.isEmpty, isDue || isFinished || collected.count >= count ?? .max {
      let array: [Input]
      if let count, collected.count > count {
        array = Array(collected.prefix(count))
        collected.removeFirst(count)
      } else {
        array = collected
        collected = []
        isDue = false
      }
      demand.takeOne()
      let more = down.receive(array)
      demand += more
      asked += more
    }
    isDelivering = false
    if collected.isEmpty {
      isDue = false
      if isFinished { finish(.finished) }
    }
    return asked
  }

  private func upstreamDemand(for arrays: Subscribers.Demand) -> Subscribers.Demand {
    count.map { arrays * $0 } ?? .none
  }

  private func request(upstream arrays: Subscribers.Demand) {
    let more = upstreamDemand(for: arrays)
    if more > .none, isLive, !isFinished { up?.request(more) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    request(upstream: demand + deliver())
  }

  override func forget() { _ = collected.take() }
}
