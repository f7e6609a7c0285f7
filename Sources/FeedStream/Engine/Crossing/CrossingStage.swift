public import Synchronization

/// Moves a stream to a queue: the stage of `receive(on:)` and similar operators on a `QueueScheduler`.
///
/// The part of the stream above the crossing lives where it was subscribed to: on a loop, or in a `SerialLane` if there
/// is none. The part below lives in its own lane, which runs on the queue and delivers values one at a time and in
/// order, even if the queue is concurrent. Requests and cancellations go back to the home of the part above. Operators
/// therefore need no locks, and two threads are never in the same part of a stream. Values that arrive during a
/// delivery cross together, and so do requests made during it.
///
/// **Demand:** passes through. Requested values wait in this stage until they cross.
@usableFromInline final class CrossingStage<Input, Failure: Error>: GuardedSubscription, Subscriber {
  private let name: StaticString
  @usableFromInline let down: ErasedSubscriber<Input, Failure>
  @usableFromInline let lane: SerialLane
  /// The domain in which the stream below was subscribed to; `nil` if there is no loop.
  private let surroundings: (any StreamDomain)?
  /// Runs an action when the value that has just arrived is due; `nil` if values cross immediately.
  private let later: ((@escaping () -> Void) -> Void)?
  @usableFromInline let isTimed: Bool
  /// Calls `deliverAll()`. Created where the types are known, so that the call is specialized.
  private let serve: (CrossingStage) -> Void
  @usableFromInline let home: CrossedHome
  /// False after upstream's completion, or the cancellation: a user's publisher may be delivering on another thread.
  @usableFromInline let isOpen = Atomic(true)
  /// True as soon as the stream has been cancelled.
  private let isCancelled = Atomic(false)

  // Used in the home of the part above.
  @exclusivity(unchecked) private var up: (any Subscription)?
  /// The demand that the subscriber requested when it received the subscription. The stage passes it on only
  /// afterwards, because a sequence may then deliver all its values, and the lane must be free to deliver them.
  @exclusivity(unchecked) private var requestedEarly = Subscribers.Demand.none
  private var bridge: MapBridge?
  /// The values and the completion that aren't due yet, in order.
  private let waiting = Locked(FIFO<() -> Void>())

  // Guarded by the mutex: the values and the completion in transit to the lane.
  @usableFromInline let mutex = SystemMutex()
  @exclusivity(unchecked) @usableFromInline var passing = ContiguousArray<Input>()
  @exclusivity(unchecked) @usableFromInline var passingEnding: Subscribers.Completion<Failure>?
  /// True if the lane has been notified that events are in transit.
  @exclusivity(unchecked) @usableFromInline var isTold = false

  // Used in the lane.
  @exclusivity(unchecked) @usableFromInline var isLive = true
  @exclusivity(unchecked) @usableFromInline var arrived = ContiguousArray<Input>()
  /// The number of arrived values that have been delivered.
  @exclusivity(unchecked) @usableFromInline var delivered = 0

  /// - Parameter later: runs an action when a value that has just arrived is due; `nil` means immediately.
  @inlinable convenience init<Context: Scheduler>(
    _ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, on queue: Context,
    options: Context.SchedulerOptions?, later: ((@escaping () -> Void) -> Void)? = nil
  ) {
    self.init(name, down, on: queue, options: options, later: later) { $0.deliverAll() }
  }

  @usableFromInline init<Context: Scheduler>(
    _ name: StaticString, _ down: ErasedSubscriber<Input, Failure>, on queue: Context,
    options: Context.SchedulerOptions?, later: ((@escaping () -> Void) -> Void)?,
    serve: @escaping (CrossingStage) -> Void
  ) {
    CurrentDomain.noteQueue()
    self.name = name
    self.down = down
    self.later = later
    self.serve = serve
    isTimed = later != nil
    surroundings = Home.current?.reference
    let holder = Home.holder
    lane = queue.newLane(options, holder: holder)
    lane.takesRequests = true
    home = CrossedHome(surroundings ?? SerialLane(holder: holder), holder: holder, isOnMainQueue: lane.mayBeOnMainQueue)
    super.init()
    // Any thread may request values and cancel: requests go to the home above, cancellations to the lane.
    confinement = .anywhere
    lane.whenClosed { [weak self] in self?.laneClosed() }
  }

  /// Subscribes to upstream, in its home.
  @usableFromInline func subscribe(_ attach: @escaping () -> Void) { home.domain?.perform(attach) }

  // MARK: Upstream, in its home

  @usableFromInline func receive(subscription: any Subscription) {
    guard up == nil, isOpen.load(ordering: .relaxed) else { return subscription.cancel() }
    up = subscription
    bridge = .make("\(name)", subscription) { [weak self] in self?.waiting.withLock { $0.count } ?? 0 }
    // The part above may itself have crossed to a queue.
    if let domain = CurrentDomain.get() { home.domain = domain }
    if let domain = home.domain, domain.isHere {
      domain.whenClosed(ObjectIdentifier(self)) { [weak self] in self?.abandon() }
    }
    lane.begin(at: surroundings) { down.receive(subscription: self) }
    let demand = exchange(&requestedEarly, with: .none)
    if demand > .none { ask(demand) }
  }

  @inlinable func receive(_ input: Input) -> Subscribers.Demand {
    guard isOpen.load(ordering: .relaxed) else {
      stopUpstream()
      return .none
    }
    if isTimed {
      wait { [self] in deliver(input) }
      return .none
    }
    mutex.lock()
    passing.append(input)
    let mustTell = !isTold
    isTold = true
    mutex.unlock()
    if mustTell { tell() }
    return .none
  }

  /// Makes upstream's next value cancel upstream, even if the cancellation itself waits until upstream's home is free.
  private func refuseValues() {
    isCancelled.store(true, ordering: .relaxed)
    isOpen.store(false, ordering: .relaxed)
  }

  /// Cancels upstream, which is still delivering after the cancellation. Upstream may be a sequence that delivers
  /// all its values in one piece of work, so that the cancellation waits in the home.
  @inline(never) @usableFromInline func stopUpstream() {
    guard isCancelled.load(ordering: .relaxed), let domain = home.domain, domain.isHere else { return }
    abandon()
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    guard isOpen.load(ordering: .relaxed) else { return }
    isOpen.store(false, ordering: .relaxed)
    // A user's publisher may complete on one thread while another thread cancels.
    home.domain?.perform { [self] in discard(up.take()) }
    if isTimed { return wait { [self] in finish(completion) } }
    home.domain?.perform { [self] in forgetHome() }
    mutex.lock()
    passingEnding = completion
    let mustTell = !isTold
    isTold = true
    mutex.unlock()
    if mustTell { tell() }
  }

  @usableFromInline func tell() { lane.post { [self] in serve(self) } }

  @usableFromInline func wait(_ action: @escaping () -> Void) {
    guard let later, home.domain != nil else { return }
    waiting.withLock { $0.append(action) }
    home.hold()
    // Timers that are due together may fire in any order, so each releases the first waiting event. The part above may
    // be busy, so this doesn't wait for it.
    let arrive: () -> Void = { [self] in
      lane.post { [self] in
        let (next, isLast): ((() -> Void)?, Bool) = waiting.withLock { ($0.popFirst(), $0.isEmpty) }
        next?()
        if isLast, !isOpen.load(ordering: .relaxed) { home.domain?.perform { [self] in forgetHome() } }
      }
      home.letGo()
    }
    // Work that an operation queue drops is due immediately.
    let errand = LoopErrand(arrive, dropped: arrive)
    later { errand.run() }
  }

  /// Called when the lane's loop is closed: nothing more is delivered, and values in transit are reported as dropped.
  private func laneClosed() {
    refuseValues()
    home.domain?.perform(isCancellation: true) { [self] in
      abandon()
      for value in mutex.withLock({ passing.take() }) {
        StreamDiagnostics.dropped(value, "CrossingStage", .terminated)
      }
    }
  }

  /// Cancels upstream when the stream is cancelled, or when the loop of either part is closed. Runs in the home of the
  /// part above.
  private func abandon() {
    forgetHome()
    isOpen.store(false, ordering: .relaxed)
    discard(waiting.withLock { $0.take() })
    up.take()?.cancel()
    home.leave()
  }

  /// Called in the home when the stage has nothing left there.
  private func forgetHome() { home.domain?.whenClosed(ObjectIdentifier(self), nil) }

  @usableFromInline func ask(_ demand: Subscribers.Demand) {
    home.domain?.perform { [self] in up?.request(demand) }
  }

  // MARK: Downstream, in the lane

  /// Delivers the arrived values, then the completion. A later call delivers the events that arrive meanwhile. That
  /// call also delivers the rest of the values if other work waits in the lane, such as a cancellation or another
  /// publisher's event, or if the subscriber is slow and the queue has other work.
  @inlinable func deliverAll() {
    if arrived.isEmpty {
      mutex.lock()
      swap(&passing, &arrived)
      mutex.unlock()
    }
    let (more, isDone) = deliverArrived()
    if more > .none, isLive { ask(more) }
    guard isDone else { return tell() }
    let isShort = delivered < 64
    arrived.removeAll(keepingCapacity: true)
    delivered = 0
    mutex.lock()
    isTold = !passing.isEmpty
    let ending = isTold ? nil : passingEnding.take()
    let mustTell = isTold
    mutex.unlock()
    if mustTell {
      // While upstream is delivering, let a batch gather: handing over one value at a time would slow both threads.
      if isShort { lane.endTurn() }
      tell()
    }
    if let ending { finish(ending) }
  }

  /// - Returns: the subscriber's further demand, and false if values are left.
  @inlinable func deliverArrived() -> (Subscribers.Demand, isDone: Bool) {
    let values = arrived
    var more = Subscribers.Demand.none
    guard isLive, !lane.isOver else { return (more, true) }
    // Reading the clock takes as long as delivering a value, so it is read after 1, 2, 4 and so on up to 64 values.
    var (interval, left) = (1, 1)
    while delivered < values.count {
      let input = values[delivered]
      delivered &+= 1
      more += down.receive(input)
      guard isLive else { return (more, true) }
      left &-= 1
      let signals = lane.currentSignals
      guard signals.isEmpty, left > 0 || !lane.endsTurn() else {
        return (more, signals.contains(.revoked) || delivered == values.count)
      }
      if left == 0 {
        interval = min(64, interval &* 2)
        left = interval
      }
    }
    return (more, true)
  }

  @usableFromInline func deliver(_ input: Input) {
    guard isLive, !lane.isOver else { return }
    let more = down.receive(input)
    if more > .none, isLive { ask(more) }
  }

  @usableFromInline func finish(_ completion: Subscribers.Completion<Failure>) {
    guard isLive, !lane.isOver else { return }
    isLive = false
    home.leave()
    down.receive(completion: completion)
  }

  override var takesRequestsAnywhere: Bool { true }

  /// Passes on a request for zero values: the publisher that serves the demand decides whether it traps.
  override var takesNone: Bool { true }

  override func requested(_ demand: Subscribers.Demand) {
    if lane.isHandingDownHere {
      requestedEarly += demand
      return
    }
    // Requests don't wait for the queue: like Combine's, they take effect before the next value is sent.
    if lane.isHere ? isLive : !lane.isOver { ask(demand) }
  }

  override func cancelled() {
    refuseValues()
    guard lane.isHere else { return lane.revoke { [self] in cancelled() } }
    guard isLive else { return }
    isLive = false
    home.domain?.perform(isCancellation: true) { [self] in abandon() }
  }

  override func tell(_ facts: inout StreamFacts) {
    facts.delivers(to: down)
    facts.held = mutex.withLock { passing.count }
    facts.isOver = !isLive
    facts.onlyMoves = true
    facts.upstreams = [bridge].compactMap { $0 }
  }

  override var description: String { "\(name)" }
  override var customMirror: Mirror { mirror(["downstream": down.subscriber]) }
}

extension CrossingStage: Traceable {
  @usableFromInline var below: Any { down.subscriber }
}
