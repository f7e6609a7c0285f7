import CLibrary
import Synchronization

/// Admits one thread at a time to a stage that joins several publishers, because a user's publisher may deliver on its
/// own threads.
///
/// A stage that lives on a loop, in virtual time or on a queue handles all events there: an event on another thread is
/// moved there. A stage without a home belongs to the thread that made it. That thread enters without a lock and only
/// marks that it is inside. Once another thread arrives, the stage is shared, and its events go through a
/// ``SerialLane``. No thread waits for another, so joined stages can't deadlock.
// @unchecked: the properties that are not atomic are used under the mutex, or in the stage's home.
@usableFromInline final class ThreadGate: EntryGate, @unchecked Sendable {
  /// The thread that may enter without a further check; 0 when the stage is shared, has waiting events, or lives in a
  /// lane, whose thread changes.
  @usableFromInline let thread: Atomic<UInt>
  /// The depth of nested events on `thread`.
  @usableFromInline let depth = Atomic<Int>(0)
  @usableFromInline let isShared = Atomic(false)
  private let isOver = Atomic(false)
  /// The number of events that other threads have moved to the stage's home and that wait there. Until they have been
  /// handled, no thread enters directly: a publisher's next event would overtake them. See ``EventLine``.
  private let waiting = Atomic<Int>(0)

  /// True when the stage lives on a loop, in virtual time or on a queue.
  @usableFromInline var isHomed: Bool { homed.load(ordering: .acquiring) }
  // Set after `lane`, which other threads read when this is true.
  private let homed: Atomic<Bool>
  private let home: (any StreamDomain)?
  /// The lane in which the stage lives, or through which the events of a shared stage go.
  private var lane: SerialLane?
  /// The loop that keeps running while streams that are made in the lane of a shared stage have values in transit.
  private let holder: (any StreamDomain)?
  /// True when the lane's work waits until the thread that is inside leaves.
  private var isOccupied = false
  /// The condition under which the stage may still move to the lane of its first upstream; see ``follow(_:)``.
  private var following: Following
  /// The thread that is subscribing the stage to its publishers, from inside; 0 for none. Meanwhile, the stage doesn't
  /// move to a lane in which another thread hands down a subscription.
  private var beginner: UInt = 0
  // Quiet, and without an allocation: almost every operator has a gate if its publisher may deliver on any thread.
  private let mutex = QuietMutex()

  /// The condition under which a stage moves to the lane in which its first upstream hands down its subscription.
  @usableFromInline enum Following {
    /// Never: the subscriber has received its subscription elsewhere.
    case never
    /// If the stage has no home. A stage with a home brings its publishers' events there instead.
    case withoutHome
    /// Always: one publisher delivers at a time, as in a stage with one upstream.
    case always
  }

  @usableFromInline init(following: Following = .never) {
    self.following = following
    let domain = Home.current
    homed = Atomic(domain != nil)
    lane = domain as? SerialLane
    thread = Atomic(lane == nil ? currentThread() : 0)
    holder = domain == nil ? Home.holder : nil
    home = lane == nil ? domain?.reference : nil
  }

  /// Moves the stage to the queue on which its subscription is being handed down, if any: upstream delivers there.
  ///
  /// - Returns: true if there is such a queue.
  @inline(never) @usableFromInline func follow() -> Bool {
    guard let lane = SerialLane.ofSubscriptionHandedDown else { return false }
    move(to: lane)
    return true
  }

  private func move(to lane: SerialLane) {
    self.lane = lane
    homed.store(true, ordering: .releasing)
    thread.store(0, ordering: .relaxed)
  }

  /// True until the subscription of the stage's first upstream is handed down, if the stage may then move.
  @usableFromInline var mayFollow: Bool { following != .never }

  /// Called when the subscription of the stage's first upstream is handed down, in `lane` or in none. Moves the stage
  /// to the lane, if it may move.
  @usableFromInline func follow(_ lane: SerialLane?) {
    mutex.withLock {
      let following = self.following
      self.following = .never
      guard beginner == 0 || beginner == currentThread() else { return }
      guard let lane, !isShared.load(ordering: .relaxed) else { return }
      guard following == .always || !isHomed else { return }
      // The thread that subscribes may be inside: the queue's work then waits until it leaves.
      let isHere = thread.load(ordering: .relaxed) == currentThread() || self.lane?.isHere ?? false
      let isInside = isHere && depth.load(ordering: .relaxed) > 0
      move(to: lane)
      guard isInside else { return }
      lane.keep()
      isOccupied = true
      isShared.store(true, ordering: .relaxed)
    }
  }

  /// True if the stage lives in `lane`.
  func lives(in lane: SerialLane) -> Bool { isHomed && self.lane === lane }

  @usableFromInline var takesAnyThread: Bool { !isHomed || lane != nil }
  @usableFromInline var isAway: Bool { !isHomed || lane.map { !isRunning($0) } ?? false }

  /// True if the calling code runs in `lane`. False for code on a thread that merely keeps the lane occupied, or that
  /// runs another stream's lane meanwhile: the timers and subscriptions of such code don't live in `lane`.
  private func isRunning(_ lane: SerialLane) -> Bool {
    lane.isHere && (CurrentDomain.get() === lane || lane.ownsThread)
  }

  /// True if the calling code runs where the stage lives, and the stage's home has a loop or a queue of its own.
  @inline(never) @usableFromInline var isHomeOfCaller: Bool {
    guard isHomed else { return false }
    return lane.map { $0.isHere && !$0.isForAnyThread } ?? home?.isHere ?? false
  }

  // MARK: Entering

  /// Runs `subscribe`: inside the gate if this thread may enter, otherwise outside. If the first publisher delivers on
  /// a queue, the queue's work waits until this returns.
  @inlinable func begin(_ subscribe: (_ isInside: Bool) -> Void) {
    setBeginner(currentThread())
    let isInside = enter()
    subscribe(isInside)
    setBeginner(0)
    if isInside { leave() }
  }

  @usableFromInline func setBeginner(_ thread: UInt) { mutex.withLock { beginner = thread } }

  /// Returns true when the calling thread may handle an event now; call ``leave()`` afterwards. Otherwise, pass the
  /// event to ``perform(_:)``.
  @inlinable @inline(__always) func enter() -> Bool {
    guard thread.load(ordering: .relaxed) == currentThread() else { return enterFromElsewhere() }
    let depth = depth.load(ordering: .relaxed)
    // Store the mark before reading `isShared`; see `share()`.
    self.depth.store(depth &+ 1, ordering: .releasing)
    return depth > 0 || !isShared.load(ordering: .acquiring) || stayOut()
  }

  @inlinable @inline(__always) func leave() {
    let depth = depth.load(ordering: .relaxed) &- 1
    self.depth.store(depth, ordering: .releasing)
    if depth == 0, isShared.load(ordering: .acquiring) { handOver() }
  }

  /// Runs `action` immediately if this thread may enter, otherwise later.
  @inline(never) @usableFromInline func run(_ action: @escaping () -> Void) { if !runsNow(action) { perform(action) } }

  /// Runs `action` if this thread may enter.
  ///
  /// - Returns: false if it may not.
  func runsNow(_ action: @escaping () -> Void) -> Bool {
    guard enter() else { return false }
    // The thread may be in another domain, such as the lane in which upstream hands down its subscription.
    if let home: any StreamDomain = isHomed ? lane ?? home : nil { home.perform(action) } else { action() }
    leave()
    return true
  }

  /// Runs `action` in the stage's home, or in turn if the stage is shared, unless the stage has been cancelled by then.
  @inline(never) @usableFromInline func perform(_ action: @escaping () -> Void) {
    bring { [self] in if !isOver.load(ordering: .acquiring) { action() } }
  }

  /// Runs `cancel` like `perform(_:)`, and drops events in transit.
  @inline(never) @usableFromInline func revoke(_ cancel: @escaping () -> Void) {
    isOver.store(true, ordering: .releasing)
    bring(cancel, isCancellation: true)
  }

  /// Runs `action` in the stage's home, or in turn if the stage is shared. A closed loop drops it, unless it is a
  /// cancellation.
  func bring(_ action: @escaping () -> Void, isCancellation: Bool = false) {
    guard isHomed else { return share().perform(action) }
    // Add to `waiting`, then reset `thread`; `enterFromElsewhere()` does so in the opposite order.
    waiting.add(1, ordering: .sequentiallyConsistent)
    thread.store(0, ordering: .sequentiallyConsistent)
    let arrive = { [self] in
      waiting.subtract(1, ordering: .relaxed)
      action()
    }
    if let lane { return lane.perform(isCancellation: isCancellation, arrive) }
    guard let home else { return }
    if isCancellation, !home.isHere {
      let (arrive, cancel) = (Carried(uncheckedly: arrive), Carried(uncheckedly: action))
      return home.bring({ arrive.value() }, dropped: { [self] in leaveHome().perform(cancel.value) })
    }
    if home.isReleased, !isCancellation { return Self.warnOfReleasedLoop() }
    home.perform(arrive)
  }

  /// Called when the stage's loop is closed: from now on, the stage has no home.
  private func leaveHome() -> SerialLane {
    homed.store(false, ordering: .releasing)
    return share()
  }

  /// Called when an event is dropped because its stream's loop was released.
  private static func warnOfReleasedLoop() {
    Warnings.warn(
      .neverRun, at: "EventLoop",
      """
      an event arrived for a stream whose EventLoop was released, so the event was dropped; keep the EventLoop in a variable until its \
      run() has returned
      """)
  }

  /// Runs `subscribe`, which subscribes the stage to another publisher, in the stage's domain. Otherwise, the publisher
  /// might live in a lane of another stream: the calling thread, although it is inside the gate, may be running such a
  /// lane.
  @inlinable func atHome(_ subscribe: () -> Void) {
    if CurrentDomain.hasQueues { leavingOtherLanes(subscribe) } else { subscribe() }
  }

  @inline(never) @usableFromInline func leavingOtherLanes(_ subscribe: () -> Void) {
    let lane = isHomed || isShared.load(ordering: .acquiring) ? lane : nil
    guard let current = SerialLane.current, current !== lane else { return subscribe() }
    guard let domain = lane ?? (isHomed ? home?.domainHere : nil) else { return CurrentDomain.outside(subscribe) }
    let outer = CurrentDomain.enter(domain)
    subscribe()
    CurrentDomain.leave(outer)
  }

  // MARK: Other threads

  /// Called on a thread other than the last one that entered: a loop may have moved to this thread, and a queue may use
  /// several threads.
  @inline(never) @usableFromInline func enterFromElsewhere() -> Bool {
    guard isHomed else { return false }
    if let lane {
      guard isRunning(lane), waiting.load(ordering: .relaxed) == 0 else { return false }
    } else {
      guard home?.isHere ?? false else { return false }
      thread.store(currentThread(), ordering: .sequentiallyConsistent)
      guard waiting.load(ordering: .sequentiallyConsistent) == 0 else {
        thread.store(0, ordering: .relaxed)
        return false
      }
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// Marks a stage without a home as shared.
  private func share() -> SerialLane {
    mutex.withLock {
      if let lane { return lane }
      CurrentDomain.noteQueue()
      let lane = SerialLane(holder: holder)
      self.lane = lane
      isShared.store(true, ordering: .sequentiallyConsistent)
      // The thread that made the stage marks that it is inside, and then reads `isShared`. A processor may perform the
      // read before the mark is visible to other processors. After this pause, either the mark is visible here, or the
      // thread has seen that the stage is shared. A sequentially consistent mark would cost every event more than the
      // rest of `enter()`.
      usleep(100)
      isOccupied = depth.load(ordering: .sequentiallyConsistent) > 0
      // The events that this thread still causes mustn't overtake those that are moved here, so they go through the
      // lane, too.
      let first = thread.exchange(0, ordering: .relaxed)
      if isOccupied { lane.occupy(for: first) }
      return lane
    }
  }

  /// Called by the first thread when it finds the stage shared: from now on, it enters like all other threads.
  ///
  /// - Returns: false, for ``enter()`` to return.
  @inline(never) @usableFromInline func stayOut() -> Bool {
    depth.store(0, ordering: .releasing)
    handOver()
    return false
  }

  /// Called when the first thread leaves a shared stage: runs the events that have arrived in the meantime.
  @inline(never) @usableFromInline func handOver() {
    thread.store(0, ordering: .relaxed)
    let occupied = mutex.withLock {
      defer { isOccupied = false }
      // A stage with a home is shared only while the thread that subscribes is inside.
      if isHomed { isShared.store(false, ordering: .relaxed) }
      return isOccupied ? lane : nil
    }
    occupied?.release()
  }
}

/// An unowned reference through which a stage and its inlets enter their gate. The gate lives as long as they do, and
/// retaining it for each event would take longer than entering it.
@frozen @usableFromInline struct GateEntry {
  @usableFromInline let gate: Unmanaged<ThreadGate>

  @inlinable init(_ gate: ThreadGate) { self.gate = .passUnretained(gate) }

  @inlinable @inline(__always) func enter() -> Bool { gate._withUnsafeGuaranteedRef { $0.enter() } }
  @inlinable @inline(__always) func leave() { gate._withUnsafeGuaranteedRef { $0.leave() } }
}
