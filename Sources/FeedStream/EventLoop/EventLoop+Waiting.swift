internal import CLibUV
import Synchronization

/// Keeps the loop running while live streams wait for results from outside the loop (tasks, promises, senders), as it
/// does for offloaded work.
extension EventLoop {
  package func beginWaiting() {
    waits += 1
    if waits == 1 { updateWaiting() }
  }

  package func stopWaiting() {
    waits -= 1
    if waits == 0 { updateWaiting() }
  }

  /// Lets the wake-up handle keep libuv's loop running while work may arrive through it.
  func updateWaiting() {
    guard !isClosed else { return }
    let handle = uvHandle(entrance.wakeUp)
    let mustWait = runsUntilStopped || waits > 0 || entrance.holds.isAwaited.load(ordering: .relaxed) && isHeld
    if mustWait { uv_ref(handle) } else { uv_unref(handle) }
    if !mustWait { readerAlarm.take()?.cancel() }
  }

  package func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) { closers[key] = action }

  package var reference: any StreamDomain { entrance }
  package var isForAnyThread: Bool { entrance.isForAnyThread }
  package var isOnQueue: Bool { entrance.isOnQueue }
}

/// Counts the values in transit from a loop to a queue or a task. The loop is woken for their arrival only if it has
/// nothing else to do, so the counting costs two additions per value.
struct Holds: ~Copyable {
  let queue = Atomic(0)
  let mainQueueOrTask = Atomic(0)
  /// True once the loop has had nothing left to do but wait for these values.
  let isAwaited = Atomic(false)

  borrowing func add(_ place: HoldingPlace) {
    switch place {
    case .queue: queue.wrappingAdd(1, ordering: .sequentiallyConsistent)
    case .mainQueueOrTask: mainQueueOrTask.wrappingAdd(1, ordering: .sequentiallyConsistent)
    }
  }

  /// - Returns: true if this was the last value and the loop waits for it.
  borrowing func subtract(_ place: HoldingPlace) -> Bool {
    let left =
      switch place {
      case .queue: queue.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
      case .mainQueueOrTask: mainQueueOrTask.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue
      }
    return left == 0 && isAwaited.load(ordering: .sequentiallyConsistent)
  }
}

extension EventLoop {
  package func hold(_ place: HoldingPlace) { entrance.hold(place) }
  package func letGo(_ place: HoldingPlace) { entrance.letGo(place) }

  /// True while a value in transit can still arrive before the loop returns.
  var isHeld: Bool {
    entrance.holds.queue.load(ordering: .sequentiallyConsistent) > 0
      || !mainQueue.isBlocked && isHeldByMainQueue
  }

  var isHeldByMainQueue: Bool { entrance.holds.mainQueueOrTask.load(ordering: .sequentiallyConsistent) > 0 }

  /// True when the loop, which has nothing else to do, must continue until the values in transit have arrived.
  func mustHold() -> Bool {
    // Store this before checking: from now on, the last value to arrive wakes the loop.
    entrance.holds.isAwaited.store(true, ordering: .sequentiallyConsistent)
    updateWaiting()
    if isHeld { watchForReaders() }
    return isHeld
  }

  /// After a second, warns about `values` that the loop waits for and that no task iterates.
  private func watchForReaders() {
    guard Warnings.areOn, readerAlarm == nil, subscriptions?.isWaitingForReaders() == true else { return }
    readerAlarm = scheduleOnce(after: now.advanced(by: .seconds(1))) { [unowned self] in
      subscriptions?.stillWaitingForReaders()
    }
  }
}

/// Finds the open loops of threads: a stream lives on its thread's loop, even if it was subscribed to before the loop
/// ran.
enum ThreadLoops {
  // Initialized by the first loop.
  private static let entries = {
    CurrentDomain.resting = { ThreadLoops.ofCallingThread }
    CurrentDomain.hasLoop = { ThreadLoops.isOwner(number: $0) }
    CurrentDomain.isOpen = { ThreadLoops.isOpen($0) }
    return Locked<[LoopEntrance]>([])
  }()

  static func add(_ loop: EventLoop) {
    entries.withLock { $0.append(loop.entrance) }
  }

  static func remove(_ loop: EventLoop) {
    entries.withLock { entries in entries.removeAll { $0 === loop.entrance } }
  }

  /// True when the thread with this number owns an open loop.
  static func isOwner(number: UInt) -> Bool {
    entries.withLock { $0 }.contains { $0.owner.load(ordering: .relaxed) == number }
  }

  /// True if the loop with this entrance is open.
  static func isOpen(_ entrance: ObjectIdentifier) -> Bool {
    entries.withLock { $0 }.contains { ObjectIdentifier($0) == entrance }
  }

  /// The newest open loop of the calling code that the calling thread owns.
  static var ofCallingThread: EventLoop? {
    // Copy the list, and read the references outside of the lock: a loop that is released uses the list again.
    entries.withLock { $0 }.last { $0.isOfCallingCode && $0.loop != nil }?.loop
  }
}
