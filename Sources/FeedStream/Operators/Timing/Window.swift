extension Publisher {
  /// Divides the stream into windows, each a separate publisher; a new one begins whenever `trigger` delivers.
  ///
  ///     upstream    -a-b---c-----|
  ///     trigger     ----x----x------
  ///     window(on: trigger)
  ///     downstream  A---B----C---|
  ///              A  -a-b|
  ///              B      ---c-|
  ///              C           ----|
  ///
  /// **Policy:** a window keeps its values for its subscribers, as long as the window is retained; any number of
  /// windows wait until they are requested. **Demand:** requests everything from upstream and the trigger. **Failure:**
  /// fails the open window and the stream; windows that have not been requested are dropped and reported. When upstream
  /// or the trigger finishes, so does the open window; the stream finishes after the waiting windows are delivered.
  /// **Cancellation:** cancels upstream and the trigger immediately; the open window finishes.
  ///
  /// - Parameter trigger: decides when a window begins; its values have no effect, and it cannot fail.
  @inlinable public func window<Trigger: Publisher>(on trigger: Trigger) -> Publishers.Window<Self, Trigger>
  where Trigger.Failure == Never {
    Publishers.Window(upstream: self, trigger: trigger, count: nil)
  }

  /// Divides the stream into windows that last `interval`.
  ///
  ///     upstream    -a-b---c---|
  ///     window(for: 4)
  ///     downstream  A---B---C--|
  ///              A  -a-b|
  ///              B      ---c|
  ///              C          ---|
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/window(on:)``.
  ///
  /// - Parameters:
  ///   - interval: the length of a window, as measured by `scheduler`.
  ///   - scheduler: measures the time and delivers the windows.
  ///   - options: passed on to the scheduler.
  /// - Precondition: `interval` is more than zero.
  @inlinable public func window<S: Scheduler>(
    for interval: S.SchedulerTimeType.Stride, scheduler: S, options: S.SchedulerOptions? = nil
  ) -> Publishers.Window<Self, Interval<S>> {
    precondition(interval > .zero, "window(for: \(interval)): the interval is zero or less; use more than zero")
    return window(on: Interval(every: interval, scheduler: scheduler, options: options))
  }

  /// Divides the stream into windows of `count` values. A window begins with its first value.
  ///
  ///     upstream    -a-b---c---|
  ///     window(2)
  ///     downstream  -A-----B---|
  ///              A   a-b|
  ///              B         c---|
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/window(on:)``.
  ///
  /// - Precondition: `count` is more than zero.
  @inlinable public func window(_ count: Int) -> Publishers.Window<Self, Empty<Never, Never>> {
    Publishers.Window(upstream: self, trigger: Empty(completeImmediately: false), count: count)
  }
}

extension Publishers {
  /// See ``Publisher/window(on:)``.
  public struct Window<Upstream: Publisher, Trigger: Publisher>: Operator, _JoinsPublishers
  where Trigger.Failure == Never {
    public typealias Output = AnyPublisher<Upstream.Output, Upstream.Failure>

    public let upstream: Upstream
    public let trigger: Trigger
    /// The number of values that fill a window; `nil` if only the trigger ends a window.
    public let count: Int?

    @inlinable public init(upstream: Upstream, trigger: Trigger, count: Int?) {
      precondition(count ?? 1 > 0, "window(\(count ?? 1)): a window of that size never fills; use 1 or more")
      self.upstream = upstream
      self.trigger = trigger
      self.count = count
    }

    @inlinable public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
      let stage = WindowStage<Upstream.Output, Failure>(ErasedSubscriber(subscriber), count: count)
      upstream.receive(gated: stage, triggeredBy: trigger)
    }
  }
}

extension Publishers.Window: Equatable where Upstream: Equatable, Trigger: Equatable {}

@usableFromInline
final class WindowStage<Input, Failure: Error>: TriggeredStage<AnyPublisher<Input, Failure>, Failure>, Subscriber {
  @usableFromInline let count: Int?
  @exclusivity(unchecked) @usableFromInline var open: ReplaySubject<Input, Failure>?
  /// The number of values in the open window.
  @exclusivity(unchecked) @usableFromInline var filled = 0
  /// The windows that have not been requested.
  @exclusivity(unchecked) @usableFromInline var waiting = FIFO<ReplaySubject<Input, Failure>>()
  @exclusivity(unchecked) @usableFromInline var demand = Subscribers.Demand.none
  /// Upstream's completion, or the trigger's, which may still have to be delivered.
  @exclusivity(unchecked) @usableFromInline var ending: Subscribers.Completion<Failure>?
  @exclusivity(unchecked) @usableFromInline var isDelivering = false

  @usableFromInline init(_ down: ErasedSubscriber<AnyPublisher<Input, Failure>, Failure>, count: Int?) {
    self.count = count
    super.init("Window", down)
    joint = GateMember(gate, isElsewhere: false)
  }

  override func began() {
    super.began()
    guard isLive, ending == nil else { return }
    // The subscribers of the first window don't belong to the stream whose subscription is being delivered.
    if count == nil { CurrentDomain.apart { beginWindow() } }
    up?.request(.unlimited)
  }

  /// Opens a window and delivers it. The window already contains `input`, and is complete if `input` fills it; values
  /// sent during its delivery come after `input`.
  @inlinable func beginWindow(with input: Input? = nil) {
    let window = newWindow()
    waiting.append(window)
    if let input { fill(window, input) }
    deliver()
  }

  @inlinable func newWindow() -> ReplaySubject<Input, Failure> {
    let window = ReplaySubject<Input, Failure>(count: .max)
    window.conduits.confinement.isGated = true
    open = window
    filled = 0
    return window
  }

  /// Sends `input` to `window`, and finishes the window if it is full; values sent in the meantime then begin the next
  /// window. An earlier call may deliver `input`, so a call within another one leaves the next window to that one.
  @inlinable func fill(_ window: ReplaySubject<Input, Failure>, _ input: Input) {
    filled += 1
    let isFull = filled == count
    if isFull { open = nil }
    let isOutermost = !isDelivering
    isDelivering = true
    window.send(input)
    if isFull { window.send(completion: .finished) }
    guard isOutermost else { return }
    isDelivering = false
    if !waiting.isEmpty || ending != nil { deliver() }
  }

  @inlinable func endWindow(_ completion: Subscribers.Completion<Failure>) {
    let window = open.take()
    window?.send(completion: completion)
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard takesEvents, ending == nil else { return .none }
    if let open { fill(open, input) } else { beginWindow(with: input) }
    return .none
  }

  override func triggered() {
    guard isLive, ending == nil else { return }
    // The next window is opened before the previous one finishes, because the new one takes values sent during that
    // completion. It is delivered afterwards.
    let last = open
    waiting.append(newWindow())
    let isOutermost = !isDelivering
    isDelivering = true
    last?.send(completion: .finished)
    if isOutermost { isDelivering = false }
    deliver()
  }

  override func triggerEnded() {
    up.take()?.cancel()
    end(.finished)
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard takesEvents, ending == nil else { return }
    trigger?.cancel()
    end(completion)
  }

  private func end(_ completion: Subscribers.Completion<Failure>) {
    ending = completion
    endWindow(completion)
    deliver()
  }

  override var needsTrigger: Bool { super.needsTrigger && ending == nil }

  @inlinable func deliver() {
    guard !isDelivering else { return }
    isDelivering = true
    while isLive, demand > .none, let window = waiting.popFirst() {
      demand.takeOne()
      demand += down.receive(WindowPublisher(window: window, gate: gate).eraseToAnyPublisher())
    }
    isDelivering = false
    guard isLive, let ending else { return }
    // Windows that have not been requested do not delay a failure.
    if case .failure = ending {
      while let window = waiting.popFirst() { StreamDiagnostics.dropped(window, "Window", .terminated) }
    }
    if waiting.isEmpty { finish(ending) }
  }

  override func requested(_ demand: Subscribers.Demand) {
    guard isLive else { return }
    self.demand += demand
    deliver()
  }

  override func tell(_ facts: inout StreamFacts) {
    super.tell(&facts)
    facts.demand = demand
    facts.held = waiting.count
    // If only a count ends windows, the trigger never fires.
    if count != nil { facts.upstreams.removeAll { $0 is NeverSubscription } }
  }

  override func cancelled() {
    super.cancelled()
    waiting.removeAll()
    endWindow(.finished)
  }
}

/// A window's publisher: the window's subscribers enter the gate through which its values arrive, because other threads
/// may subscribe.
@usableFromInline struct WindowPublisher<Output, Failure: Error>: Publisher {
  @usableFromInline let window: ReplaySubject<Output, Failure>
  @usableFromInline let gate: ThreadGate

  @inlinable init(window: ReplaySubject<Output, Failure>, gate: ThreadGate) {
    self.window = window
    self.gate = gate
  }

  @inlinable var _deliversAtHome: Bool { gate.isHomeOfCaller }

  @inlinable func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
    if gate.isHomeOfCaller { return window.receive(subscriber: subscriber) }
    let member = GateMember(gate, isElsewhere: true)
    let stage = WindowOutlet(ErasedSubscriber(subscriber), member)
    member.run { [window] in window.receive(subscriber: stage) }
  }
}

@usableFromInline final class WindowOutlet<Input, Failure: Error>: Stage<Input, Failure>, Subscriber {
  @usableFromInline init(_ down: ErasedSubscriber<Input, Failure>, _ member: GateMember) {
    super.init(down)
    joint = member
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand { takesEvents ? down.receive(input) : .none }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) { finish(completion) }

  // The window decides what a request for zero values means.
  override var takesNone: Bool { true }
  override var description: String { "Window" }
}
