/// Connects a stream to the tasks that await its values: requests one value for each waiting task.
///
/// The stream's side and the waiting side may be on different threads. Every use of the stream (subscribing,
/// requesting, cancelling) runs at the stream's home; the lock guards the state that both sides share. A stream without
/// a home lives where the task iterates: a cancellation by other code takes effect when the task continues. If the
/// iterator is released elsewhere, the subscription is cancelled on the actor that iterated. While a task handles a
/// value or the completion, the stream's loop keeps running until the task requests the next value or releases its
/// iterator.
@usableFromInline final class AsyncRelay<Input: Sendable, Failure: Error>: Subscriber, Cancellable, Sendable {
  typealias Answer = Result<Input?, Failure>
  typealias Waiter = UnsafeContinuation<Answer, Never>

  private enum Phase {
    case waiting
    case subscribed(any Subscription)
    /// Cancelled, but the cancellation has not reached the stream yet.
    case leaving(any Subscription)
    case ended

    var isOver: Bool {
      switch self {
      case .waiting, .subscribed: false
      case .leaving, .ended: true
      }
    }
  }

  private struct State {
    var phase = Phase.waiting
    var waiters = FIFO<Waiter>()
    /// The number of awaited values that have not been requested from the stream yet.
    var owed = 0
    /// A failure that arrived while no task was waiting.
    var failure: Failure?
    /// True while this relay keeps the loop running.
    var isHolding = true
    /// The lane in which the stream delivers, if it delivers on a queue.
    var lane: SerialLane?
    /// The task that iterates a stream without a home, and that task's actor.
    var task: UInt64?
    weak var actor: (any Actor)?

    mutating func enqueue(_ waiter: Waiter) {
      waiters.append(waiter)
      owed += 1
    }

    mutating func hold(_ home: StreamHome) {
      if !isHolding { home.hold() }
      isHolding = true
    }

    /// - Returns: true if the relay kept the loop running; the caller must then call the home's `letGo()`.
    mutating func letGo() -> Bool {
      defer { isHolding = false }
      return isHolding
    }

    mutating func takeWaiters() -> FIFO<Waiter> {
      defer { waiters = FIFO() }
      return waiters
    }
  }

  private let home: StreamHome
  private let state = Locked(State())

  init(_ home: StreamHome) {
    self.home = home
    home.hold()
  }

  // MARK: The waiting side, on any thread

  /// The next value; `nil` after the completion or a cancellation.
  func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Input? {
    if isHomeless { state.withLock { ($0.task, $0.actor) = (SubjectConfinement.currentTask, actor) } }
    let answer: Answer = await withTaskCancellationHandler {
      await withUnsafeContinuation(isolation: actor) { ask($0) }
    } onCancel: {
      stop(here: !isHomeless)
    }
    if isHomeless { leaveWithTask() }
    return try answer.get()
  }

  /// True if the stream lives where the task iterates.
  private var isHomeless: Bool { home.domain == nil }

  private func ask(_ waiter: Waiter) {
    let (answer, wasHolding): (Answer?, Bool) = state.withLock { state in
      guard state.phase.isOver else {
        state.enqueue(waiter)
        return (nil, state.letGo())
      }
      defer { state.failure = nil }
      return (state.failure.map { .failure($0) } ?? .success(nil), state.letGo())
    }
    if let answer { waiter.resume(returning: answer) } else { atHome { self.request(atMost: 1) } }
    // Call `letGo()` only now, when the request is in transit and keeps the loop running.
    if wasHolding { home.letGo() }
  }

  /// Called when the iterator is released.
  @usableFromInline func cancel() {
    let actor: (any Actor)? = state.withLock { state in
      state.task == nil || state.task == SubjectConfinement.currentTask ? nil : state.actor
    }
    guard isHomeless, let actor else { return stop(here: true) }
    stop(here: false)
    Task.detached { await self.leave(on: actor) }
  }

  private func leave(on actor: isolated any Actor) { leaveWithTask() }

  /// Cancels the subscription of a stream that lives where its task continues, unless the stream lives in a lane.
  private func leaveWithTask() { if state.withLock({ $0.lane }) == nil { leave() } }

  /// - Parameter isHere: true if the calling code may cancel the subscription.
  private func stop(here isHere: Bool) {
    let (waiters, wasHolding) = state.withLock { state in
      switch state.phase {
      case .subscribed(let subscription): state.phase = .leaving(subscription)
      case .waiting: state.phase = .ended
      case .leaving, .ended: break
      }
      return (state.takeWaiters(), state.letGo())
    }
    // Any code may cancel a stream in the stream's lane.
    if isHere || state.withLock({ $0.lane }) != nil { atHome(isCancellation: true) { self.leave() } }
    if wasHolding { home.letGo() }
    waiters.dismiss()
  }

  // MARK: The stream's side, at its home

  private func atHome(isCancellation: Bool = false, _ action: @escaping @Sendable () -> Void) {
    if let lane = state.withLock({ $0.lane }) {
      lane.perform(isCancellation: isCancellation, action)
    } else if isCancellation {
      home.runCancellation(action)
    } else {
      home.run(action)
    }
  }

  /// Subscribes, at home. When the home's loop is closed, the waiting tasks receive `nil`.
  func begin(_ attach: @escaping (AsyncRelay) -> Void) {
    let attach = Carried(uncheckedly: attach)
    let errand = LoopErrand {
      self.home.whenClosed(ObjectIdentifier(self)) { [weak self] in self?.stop(here: true) }
      attach.value(self)
    } dropped: {
      self.stop(here: true)
    }
    home.run { errand.run() }
  }

  /// Stops observing whether the home is closed, because the subscription is over.
  private func forgetHome() {
    if home.domain?.isHere == true { home.whenClosed(ObjectIdentifier(self), nil) }
  }

  /// Requests the values that tasks wait for. Each waiting task causes one request, so that the stream sees the same
  /// requests regardless of timing.
  private func request(atMost limit: Int) {
    let request: (any Subscription, Int)? = state.withLock { state in
      guard case .subscribed(let subscription) = state.phase, state.owed > 0 else { return nil }
      let count = min(state.owed, limit)
      state.owed -= count
      return (subscription, count)
    }
    if let (subscription, count) = request { subscription.request(.max(count)) }
  }

  private func leave() {
    let subscription: (any Subscription)? = state.withLock { state in
      guard case .leaving(let subscription) = state.phase else { return nil }
      state.phase = .ended
      return subscription
    }
    subscription?.cancel()
    forgetHome()
  }

  @usableFromInline func receive(subscription: any Subscription) {
    let isFirst = state.withLock { state in
      guard case .waiting = state.phase else { return false }
      state.phase = .subscribed(subscription)
      state.lane = .ofSubscriptionHandedDown
      return true
    }
    if isFirst { request(atMost: .max) } else { subscription.cancel() }
  }

  @usableFromInline func receive(_ input: Input) -> Subscribers.Demand {
    let waiter: Waiter? = state.withLock { state in
      guard case .subscribed = state.phase else { return nil }
      let waiter = state.waiters.popFirst()
      if waiter == nil {
        halt(
          """
          values: a value arrived while no task was waiting for one. Either a publisher exceeds its demand, or \
          the code that sends values runs at the same time as the task that iterates them. In the latter case, write \
          the task as Task { @MainActor in … }, or make an EventLoop and send with subject.sender(on: loop)
          """,
          section: "a-publisher-exceeds-its-demand")
      }
      if state.waiters.isEmpty { state.hold(home) }
      return waiter
    }
    if let waiter {
      waiter.resume(returning: .success(input))
    } else {
      // Either the task was cancelled on another thread, or the publisher delivers without a subscription. In the
      // second case, tasks would wait forever, so dismiss them.
      StreamDiagnostics.dropped(input, "values", .terminated)
      state.withLock { $0.takeWaiters() }.dismiss()
    }
    return .none
  }

  @usableFromInline func receive(completion: Subscribers.Completion<Failure>) {
    var waiters = state.withLock { state in
      if case .failure(let error) = completion, state.waiters.isEmpty, !state.phase.isOver { state.failure = error }
      if !state.phase.isOver { state.hold(home) }
      state.phase = .ended
      return state.takeWaiters()
    }
    if case .failure(let error) = completion, let first = waiters.popFirst() {
      first.resume(returning: .failure(error))
    }
    waiters.dismiss()
    forgetHome()
  }
}

extension AsyncRelay: LiveAnywhere {
  /// True while a task waits for a value.
  @usableFromInline var isLive: Bool { state.withLock { !$0.waiters.isEmpty } }
  var mayReceive: Bool { state.withLock { !$0.phase.isOver } }
  @usableFromInline var lane: (any StreamLane)? { state.withLock { $0.lane } }
  // On the map, a `MapEnd` represents this relay.
  @usableFromInline var upstream: AnyObject? { nil }
}

extension AsyncRelay: AwaitedValues {}

extension FIFO {
  /// Resumes the waiting tasks with `nil`, because there are no more values.
  fileprivate consuming func dismiss<Value, Failure>()
  where Element == UnsafeContinuation<Result<Value?, Failure>, Never> {
    while let waiter = popFirst() { waiter.resume(returning: .success(nil)) }
  }
}
