extension Publisher {
  /// Delivers the values since the last trigger as one array, whenever `trigger` delivers.
  ///
  ///     upstream    -a-b---c-----|
  ///     trigger     ----x----x-x---
  ///     buffer(on: trigger)
  ///     downstream  ----[a,b][c]-|
  ///
  /// A trigger without values before it makes no array. The trigger's ending delivers the rest and ends the stream.
  ///
  /// **Policy:** keeps an array until it is asked for, then delivers it immediately; unbounded. **Demand:** unlimited,
  /// of upstream and trigger. **Failure:** passes through immediately; the values collected are dropped, and reported.
  /// When upstream finishes, they are delivered first. **Cancellation:** cancels both, immediately.
  ///
  /// - Parameter trigger: sets the times; its values have no effect, and it cannot fail.
  @inlinable public func buffer<Trigger: Publisher>(on trigger: Trigger) -> Publishers.CollectOn<Self, Trigger>
  where Trigger.Failure == Never {
    Publishers.CollectOn(upstream: self, trigger: trigger)
  }
}

extension Publishers {
  /// See ``Publisher/buffer(on:)``.
  public struct CollectOn<Upstream: Publisher, Trigger: Publisher>: Operator where Trigger.Failure == Never {
    public typealias Output = [Upstream.Output]

    public let upstream: Upstream
    public let trigger: Trigger

    @inlinable public init(upstream: Upstream, trigger: Trigger) {
      self.upstream = upstream
      self.trigger = trigger
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = CollectOnStage<Upstream.Output, Failure>("CollectOn", ErasedSubscriber(subscriber), count: nil)
      upstream.receive(home: stage)
      stage.start(trigger)
    }
  }
}

extension Publishers.CollectOn: Equatable where Upstream: Equatable, Trigger: Equatable {}

@usableFromInline final class CollectOnStage<Input, Failure: Error>: TriggeredStage<[Input], Failure>, Subscriber {
  private let source: StaticString
  /// How many values make an array without a trigger; `nil` for no limit.
  private let count: Int?
  @exclusivity(unchecked) private var collected: [Input] = []
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  /// True when the values collected are to be delivered as soon as they are asked for.
  @exclusivity(unchecked) private var isDue = false
  /// True when upstream has finished: the rest is due, and the ending after it.
  @exclusivity(unchecked) private var isFinished = false
  @exclusivity(unchecked) private var isDelivering = false
  /// True when upstream has ended, which may still have to be delivered.
  @exclusivity(unchecked) private var isClosed = false
  /// True when upstream has been asked for a value that has not arrived.
  @exclusivity(unchecked) private var isWaiting = false
  /// Makes the scheduler of `collect(.byTime)` deliver something; `nil` delivers it immediately.
  private let hop: ((@escaping () -> Void) -> Void)?

  @usableFromInline init(
    _ name: StaticString, _ down: ErasedSubscriber<[Input], Failure>, count: Int?,
    hop: ((@escaping () -> Void) -> Void)? = nil
  ) {
    source = name
    self.count = count
    self.hop = hop
    super.init(name, down)
  }

  override func began() {
    super.began()
    if hop == nil { up?.request(.unlimited) } else { ask() }
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    guard isLive, !isClosed else { return .none }
    isWaiting = false
    collected.append(input)
    guard let hop else { return .none }
    if collected.count == count { hop { [self] in serve() } }
    guard hasRoom else { return .none }
    isWaiting = true
    return .max(1)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isLive, !isClosed else { return }
    isClosed = true
    trigger?.cancel()
    if let hop { hop { [self] in end(completion) } } else { end(completion) }
  }

  private func end(_ completion: Subscribers.Completion<Failure>) {
    guard isLive else { return }
    if case .finished = completion { return finishWhenDelivered() }
    for input in collected { StreamDiagnostics.dropped(input, source, .terminated) }
    collected = []
    finish(completion)
  }

  /// True when one more value may be held: always, but for the array that waits to be asked for when it is full.
  private var hasRoom: Bool { collected.count < count ?? .max }

  /// Asks for the next value, one at a time, as Combine does.
  private func ask() {
    guard hop != nil, isLive, !isClosed, !isWaiting, hasRoom, let up else { return }
    isWaiting = true
    up.request(.max(1))
  }

  private func serve() {
    deliver()
    ask()
  }

  private func finishWhenDelivered() {
    isFinished = true
    deliver()
  }

  override func triggered() {
    isDue = true
    serve()
  }

  override func triggerEnded() {
    up.take()?.cancel()
    finishWhenDelivered()
  }

  override var needsTrigger: Bool { super.needsTrigger && !isClosed }

  /// Delivers the arrays that are due or full, as far as they are asked for.
  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while isLive, demand > .none, !collected.isEmpty, isDue || isFinished || !hasRoom {
      let array = collected.take()
      isDue = false
      demand.takeOne()
      demand += down.receive(array)
    }
    isDelivering = false
    if collected.isEmpty {
      isDue = false
      if isFinished { finish(.finished) }
    }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    serve()
  }

  override func forget() { _ = collected.take() }
}
