extension Publisher {
  /// Delivers the values since the last trigger as one array, whenever `trigger` delivers.
  ///
  ///     upstream    -a-b---c-----|
  ///     trigger     ----x----x-x---
  ///     buffer(on: trigger)
  ///     downstream  ----[a,b][c]-|
  ///
  /// If no values have arrived since the last trigger, no array is delivered. When the trigger completes, the remaining
  /// values are delivered and the stream ends.
  ///
  /// **Policy:** keeps an array until it is requested, then delivers it immediately; until then, it grows without
  /// limit. **Demand:** requests everything from upstream and the trigger. **Failure:** passes through immediately; the
  /// collected values are dropped and reported. When upstream finishes, they are delivered first. **Cancellation:**
  /// cancels upstream and the trigger immediately.
  ///
  /// - Parameter trigger: decides when an array is delivered; its values have no effect, and it cannot fail.
  @inlinable public func buffer<Trigger: Publisher>(on trigger: Trigger) -> Publishers.CollectOn<Self, Trigger>
  where Trigger.Failure == Never {
    Publishers.CollectOn(upstream: self, trigger: trigger)
  }
}

extension Publishers {
  /// See ``Publisher/buffer(on:)``.
  public struct CollectOn<Upstream: Publisher, Trigger: Publisher>: Operator, _JoinsPublishers
  where Trigger.Failure == Never {
    public typealias Output = [Upstream.Output]

    public let upstream: Upstream
    public let trigger: Trigger

    @inlinable public init(upstream: Upstream, trigger: Trigger) {
      self.upstream = upstream
      self.trigger = trigger
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = CollectOnStage<Upstream.Output, Failure>("CollectOn", ErasedSubscriber(subscriber), count: nil)
      upstream.receive(gated: stage, triggeredBy: trigger)
    }
  }
}

extension Publishers.CollectOn: Equatable where Upstream: Equatable, Trigger: Equatable {}

@usableFromInline final class CollectOnStage<Input, Failure: Error>: TriggeredStage<[Input], Failure>, Subscriber {
  @usableFromInline let source: StaticString
  /// The number of values that fill an array without a trigger; `nil` means no limit.
  @usableFromInline let count: Int?
  @exclusivity(unchecked) @usableFromInline var collected: [Input] = []
  /// Arrays that are full, or that a trigger closed during a delivery because they had been requested.
  @exclusivity(unchecked) @usableFromInline var ready = FIFO<[Input]>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  /// True if the collected values must be delivered as soon as they are requested; until then, the array may grow.
  @exclusivity(unchecked) @usableFromInline var isDue = false
  @exclusivity(unchecked) @usableFromInline var isDelivering = false
  /// True if upstream has completed; its completion may still have to be delivered.
  @exclusivity(unchecked) @usableFromInline var isClosed = false
  /// The completion, which follows the remaining arrays.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  /// The number of values that were requested from upstream and have not arrived; counted for
  /// `collect(.byTimeOrCount)`.
  @exclusivity(unchecked) @usableFromInline var outstanding = Subscribers.Demand.none
  /// Runs deliveries on the scheduler of `collect(.byTime)`; if `nil`, they run immediately.
  @usableFromInline let hop: ((@escaping () -> Void) -> Void)?
  /// Checks the thread on which the scheduler calls, as in `ScheduledStage`.
  @exclusivity(unchecked) private var place = SubjectConfinement()

  @usableFromInline init(
    _ name: StaticString, _ down: ErasedSubscriber<[Input], Failure>, count: Int?,
    hop: ((@escaping () -> Void) -> Void)? = nil
  ) {
    source = name
    self.count = count
    self.hop = hop
    super.init(name, down)
  }

  @usableFromInline override func receive(subscription: any Subscription) {
    // If the scheduler is a queue, the stage lives where upstream delivers; see `Scheduler.subscribe(_:to:)`.
    if hop != nil, phase == .waiting { _ = gate.follow() }
    super.receive(subscription: subscription)
  }

  override func began() {
    super.began()
    if count == nil { up?.request(hop == nil ? .unlimited : .max(1)) }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, !isClosed else { return .none }
    collected.append(input)
    // As in Combine, `collect(.byTime)` requests one value at a time.
    guard let count else { return hop == nil ? .none : .max(1) }
    outstanding.takeOne()
    if collected.count == count {
      closeArray()
      if let hop { call(by: hop) { [self] in serve() } }
    }
    return .none
  }

  @inlinable func closeArray() {
    isDue = false
    ready.append(collected.take())
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, !isClosed else { return }
    isClosed = true
    trigger?.cancel()
    if let hop { call(by: hop) { [self] in end(completion) } } else { end(completion) }
  }

  /// Runs `action` on the scheduler.
  @usableFromInline func call(by hop: (@escaping () -> Void) -> Void, _ action: @escaping () -> Void) {
    place.checkScheduled("collect(.byTime)")
    hop { [self] in
      place.checkScheduled("collect(.byTime)")
      action()
    }
  }

  private func end(_ completion: Subscribers.Completion<Failure>) {
    guard takesEvents else { return }
    ending = completion
    if case .finished = completion { isDue = true }
    deliver()
  }

  /// Requests the values that are missing from the requested arrays.
  private func ask() {
    guard let count, isLive, !isClosed, let up else { return }
    let missing = (demand - ready.count) * count - collected.count - outstanding
    guard missing > .none, outstanding != .unlimited else { return }
    outstanding += missing
    up.request(missing)
  }

  @usableFromInline func serve() {
    deliver()
    ask()
  }

  override func triggered() {
    guard !collected.isEmpty else { return }
    isDue = true
    closeWhatIsDue()
    serve()
  }

  /// Closes a requested array that becomes due while another one is being delivered, so that it does not grow.
  private func closeWhatIsDue() {
    if isDelivering, isDue, !collected.isEmpty, demand > ready.count { closeArray() }
  }

  override func triggerEnded() {
    up.take()?.cancel()
    end(.finished)
  }

  override var needsTrigger: Bool { super.needsTrigger && !isClosed }

  /// Delivers requested arrays that are due or full, and then the completion.
  private func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while isLive, demand > .none {
      if ready.isEmpty {
        guard isDue, !collected.isEmpty else { break }
        closeArray()
      }
      demand.takeOne()
      demand += down.receive(ready.removeFirst())
    }
    isDelivering = false
    guard isLive, let ending else { return }
    // Arrays that have not been requested do not delay a failure.
    if case .failure = ending { reportRest() }
    if ready.isEmpty, collected.isEmpty { finish(ending) }
  }

  private func reportRest() {
    while let array = ready.popFirst() {
      for input in array { StreamDiagnostics.dropped(input, source, .terminated) }
    }
    for input in collected.take() { StreamDiagnostics.dropped(input, source, .terminated) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    closeWhatIsDue()
    serve()
  }

  override func forget() {
    discard(collected.take())
    ready.removeAll()
  }
}
