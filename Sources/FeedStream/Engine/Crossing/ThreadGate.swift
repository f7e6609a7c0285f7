import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Admits one thread at a time to a stage that joins several publishers, because a user's publisher may deliver on its
/// own threads.
///
/// A stage that lives on a loop, in virtual time or on a queue handles all events there: an event on another thread is
/// moved there. A stage without a home belongs to the thread that made it, which enters without a lock: it marks that
/// it is inside. When another thread arrives, the stage is shared from then on, and its events go through a
/// ``SerialLane``. No thread waits for another, so stages can be joined in any way.
// @unchecked: what is not atomic is used under the mutex, or where the stage lives.
@usableFromInline final class ThreadGate: @unchecked Sendable {
  /// The thread that may enter without a further check; 0 when the stage is shared, or lives in a lane, whose thread
  /// changes.
  @usableFromInline let thread: Atomic<UInt>
  /// The depth of nested events on the thread.
  @usableFromInline let depth = Atomic<Int>(0)
  @usableFromInline let isShared = Atomic(false)
  private let isOver = Atomic(false)

  /// True when the stage lives on a loop, in virtual time or on a queue.
  private(set) var isHomed: Bool
  /// Weak: a stream must not keep its loop alive.
  private weak var home: (any StreamDomain)?
  /// The lane of the queue where the stage lives, or of a stage that is shared.
  private var lane: SerialLane?
  /// True when the lane's work waits for the thread that is inside.
  private var isOccupied = false
  private let mutex = SystemMutex()

  @usableFromInline init() {
    let domain = Home.current
    isHomed = domain != nil
    lane = domain as? SerialLane
    thread = Atomic(lane == nil ? currentThread() : 0)
    if lane == nil { home = domain }
  }

  /// The stage lives where its subscription is handed down: on a queue, if that is where upstream delivers.
  ///
  /// - Returns: true on a queue.
  @inline(never) @usableFromInline func follow() -> Bool {
    guard let lane = SerialLane.ofSubscriptionHandedDown else { return false }
    self.lane = lane
    isHomed = true
    thread.store(0, ordering: .relaxed)
    return true
  }

  // MARK: Entering

  /// True when the calling thread may handle an event now, and then calls ``leave()``; otherwise the event goes through
  /// ``perform(_:)``.
  @inlinable @inline(__always) func enter() -> Bool {
    guard thread.load(ordering: .relaxed) == currentThread() else { return enterFromElsewhere() }
    let depth = depth.load(ordering: .relaxed)
    // Marked before the other is read; see `share()`.
    self.depth.store(depth &+ 1, ordering: .releasing)
    return depth > 0 || !isShared.load(ordering: .acquiring) || stayOut()
  }

  @inlinable @inline(__always) func leave() {
    let depth = depth.load(ordering: .relaxed) &- 1
    self.depth.store(depth, ordering: .releasing)
    if depth == 0, isShared.load(ordering: .acquiring) { handOver() }
  }

  /// Runs `action` immediately if this thread may, or else later.
  @inline(never) @usableFromInline func run(_ action: @escaping () -> Void) {
    guard enter() else { return perform(action) }
    action()
    leave()
  }

  /// Runs `action` where the stage lives, or in its turn, unless the stage has been cancelled by then.
  @inline(never) @usableFromInline func perform(_ action: @escaping () -> Void) {
    bring { [self] in if !isOver.load(ordering: .acquiring) { action() } }
  }

  /// Runs `cancel` like `perform(_:)`, and drops events in transit.
  @inline(never) @usableFromInline func revoke(_ cancel: @escaping () -> Void) {
    isOver.store(true, ordering: .releasing)
    bring(cancel)
  }

  private func bring(_ action: @escaping () -> Void) {
    if isHomed {
      // A loop that is gone runs nothing any more.
      if let lane { lane.perform(action) } else { home?.perform(action) }
    } else {
      share().perform(action)
    }
  }

  // MARK: Other threads

  /// A loop may move to another thread, and a queue's thread is not always the same.
  @inline(never) @usableFromInline func enterFromElsewhere() -> Bool {
    guard isHomed else { return false }
    if let lane {
      guard lane.isHere else { return false }
    } else {
      guard home?.isHere ?? false else { return false }
      thread.store(currentThread(), ordering: .relaxed)
    }
    depth.store(depth.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    return true
  }

  /// The lane of a stage that has no home, for all threads.
  private func share() -> SerialLane {
    mutex.withLock {
      if let lane { return lane }
      Home.usesQueues()
      let lane = SerialLane()
      self.lane = lane
      isShared.store(true, ordering: .sequentiallyConsistent)
      // The thread that made the stage marks that it is inside, and then reads `isShared`. A processor may read before others see
      // the mark, but by now every mark is visible: this sees it, or the thread has seen that the stage is shared. An ordered
      // mark would cost every event more than the rest of `enter()`.
      usleep(100)
      isOccupied = depth.load(ordering: .sequentiallyConsistent) > 0
      if isOccupied { lane.occupy() }
      return lane
    }
  }

  /// Makes the stage shared: its first thread enters like all others from now on.
  ///
  /// - Returns: false.
  @inline(never) @usableFromInline func stayOut() -> Bool {
    depth.store(0, ordering: .releasing)
    handOver()
    return false
  }

  /// Called when the first thread has left; runs the events that have arrived meanwhile.
  @inline(never) @usableFromInline func handOver() {
    thread.store(0, ordering: .relaxed)
    let occupied = mutex.withLock {
      defer { isOccupied = false }
      return isOccupied ? lane : nil
    }
    occupied?.vacate()
  }
}

/// A gate as its stage and its inlets enter it for each event. It doesn't own the gate, which lives as long as they do:
/// retaining it for each event would take longer than the rest.
@frozen @usableFromInline struct GateEntry {
  @usableFromInline let gate: Unmanaged<ThreadGate>

  @inlinable init(_ gate: ThreadGate) { self.gate = .passUnretained(gate) }

  @inlinable @inline(__always) func enter() -> Bool { gate._withUnsafeGuaranteedRef { $0.enter() } }
  @inlinable @inline(__always) func leave() { gate._withUnsafeGuaranteedRef { $0.leave() } }
}
