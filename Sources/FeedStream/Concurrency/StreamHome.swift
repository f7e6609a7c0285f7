/// The place where a stream lives: the loop, the virtual time or the lane of the code that made it. A stream without a
/// home is used on the caller's thread.
struct StreamHome: Sendable {
  let domain: (any StreamDomain)?
  /// True if the domain is a lane of the stream's own, because there is no loop.
  private let isOwn: Bool
  /// True if the stream's pending results keep its loop running.
  let keepsLoopAlive: Bool
  /// The domain that keeps running while values are in transit, or a stand-in for a loop that the thread makes later.
  private let holder: (any StreamDomain)?
  private let place: HoldingPlace

  init(domain: (any StreamDomain)?, isOwn: Bool = false) {
    // A loop may be released while tasks of its streams are still running.
    self.domain = domain?.reference
    self.isOwn = isOwn
    keepsLoopAlive = Home.isKeeping
    holder = self.domain ?? EarlyHolds.ofCallingCode
    place = .mainQueueOrTask
  }

  /// The home of objects that the calling code makes and any thread may use; `nil` if they live where they are made.
  static var ofAnyThread: StreamHome? { SerialLane.current.map { StreamHome(madeIn: $0) } }

  /// The home has no domain, because the code in `lane` may pass the objects that it makes to other threads.
  private init(madeIn lane: SerialLane) {
    domain = nil
    isOwn = false
    keepsLoopAlive = Home.isKeeping
    holder = lane.isOnQueue ? lane : EarlyHolds.ofCallingCode
    place = lane.mayBeOnMainQueue || !lane.isOnQueue ? .mainQueueOrTask : .queue
  }

  /// The stand-in for a loop that the thread makes later; `nil` if the stream has a home, or a task made it.
  var early: EarlyHolds? { holder as? EarlyHolds }

  /// The home of the calling code.
  static var current: StreamHome { StreamHome(domain: Home.current) }

  /// The home of the calling code; without one, a separate lane, which serializes the threads on which its tasks end.
  static var currentOrLane: StreamHome {
    let current = Home.current
    return StreamHome(domain: current ?? SerialLane(holder: Home.holder), isOwn: current == nil)
  }

  /// The home, if it is a lane of the stream's own.
  var ownLane: CrossedHome? { isOwn ? domain.map { CrossedHome($0) } : nil }

  /// The confinement of a stage that moves requests and cancellations to its home: in a lane, any thread may make them.
  var confinement: Confinement { domain is SerialLane ? .anywhere : Confinement() }

  /// Delivers a subscription where the stream lives. If that is a lane without a queue, the stages and the subscriber
  /// below live there, too. Runs `afterwards` there once the subscription has been delivered.
  func handDown(
    _ deliver: @escaping @Sendable () -> Void, then afterwards: @escaping @Sendable () -> Void = {}
  ) {
    guard let lane = domain as? SerialLane, lane.isForAnyThread else {
      return run {
        deliver()
        afterwards()
      }
    }
    CurrentDomain.noteQueue()
    lane.handDown(at: isOwn ? nil : lane, deliver, then: afterwards)
  }

  /// Runs `work` where the stream lives: immediately if the calling thread is there, otherwise later.
  func run(_ work: @escaping @Sendable () -> Void) {
    guard let domain else { return work() }
    if domain.isHere { return domain.performHere(work) }
    guard keepsLoopAlive else { return domain.bring { Home.$isKeeping.withValue(false, operation: work) } }
    domain.bring(work)
  }

  /// Runs `cancel`, which cancels or releases something, as `run(_:)` does, but even if the loop is closed.
  func runCancellation(_ cancel: @escaping @Sendable () -> Void) {
    guard let domain else { return cancel() }
    if domain.isHere { domain.performHere(cancel) } else { domain.bringCancellation(cancel) }
  }

  /// Runs `action` when the loop is closed; `nil` removes the action. Call this only at home.
  func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) { domain?.whenClosed(key, action) }

  /// Handles an event from upstream where the stream lives, after the events that wait in `line`.
  func run(after line: borrowing EventLine, _ event: @escaping @Sendable () -> Void) {
    guard let domain else { return event() }
    if domain.isHere, line.isEmpty { return domain.performHere(event) }
    line.add(event) { action in
      let action = Carried(uncheckedly: action)
      run { action.value() }
    }
  }

  /// Keeps the loop running until `stopWaiting()` has been called the same number of times. Call this only at home.
  func beginWaiting() { if keepsLoopAlive { if let domain { domain.beginWaiting() } else { hold() } } }
  func stopWaiting() { if keepsLoopAlive { if let domain { domain.stopWaiting() } else { letGo() } } }

  /// Keeps the loop running until `letGo()` has been called the same number of times. Safe to use from any thread.
  func hold() { if keepsLoopAlive { holder?.hold(place) } }
  func letGo() { if keepsLoopAlive { holder?.letGo(place) } }
}

extension StreamHome {
  /// Starts a task for a stream that lives here, on the domain's executor if the domain has one.
  func task(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: domain?.taskExecutor) { await work() }
  }

  /// Runs `work` where the stream lives.
  ///
  /// - Returns: true if `work` has run; false if it never will, because the loop is closed.
  func perform(_ work: @escaping @Sendable () -> Void) async -> Bool {
    await withUnsafeContinuation { continuation in
      let errand = LoopErrand {
        work()
        continuation.resume(returning: true)
      } dropped: {
        continuation.resume(returning: false)
      }
      run { errand.run() }
    }
  }
}
