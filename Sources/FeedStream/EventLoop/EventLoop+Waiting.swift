internal import CLibUV

/// Keeps the loop running while live streams wait for something outside it (tasks, promises, senders), as offloaded
/// work does.
extension EventLoop {
  package func beginWaiting() {
    waits += 1
    if waits == 1 { updateWaiting() }
  }

  package func stopWaiting() {
    waits -= 1
    if waits == 0 { updateWaiting() }
  }

  /// The wake-up handle keeps libuv's loop running while something may arrive through it.
  func updateWaiting() {
    guard !isClosed else { return }
    let handle = UnsafeMutableRawPointer(wakeUp).assumingMemoryBound(to: uv_handle_t.self)
    if runsUntilStopped || waits > 0 { uv_ref(handle) } else { uv_unref(handle) }
  }

  package func whenClosed(_ key: ObjectIdentifier, _ action: (() -> Void)?) { closers[key] = action }
}

/// Maps threads to their open loops: a stream that is subscribed before its thread's loop runs lives on that loop.
enum ThreadLoops {
  private struct Entry {
    weak var loop: EventLoop?
  }

  // Made by the first loop.
  private static let entries = {
    CurrentDomain.resting = { ThreadLoops.current }
    return Locked<[Entry]>([])
  }()

  static func add(_ loop: EventLoop) {
    entries.withLock { entries in
      entries.removeAll { $0.loop == nil }
      entries.append(Entry(loop: loop))
    }
  }

  static func remove(_ loop: EventLoop) {
    entries.withLock { entries in entries.removeAll { $0.loop == nil || $0.loop === loop } }
  }

  /// The newest open loop that the calling thread owns.
  static var current: EventLoop? {
    // Taken out of the lock: the last reference may be released here, and a loop that is released calls back into the
    // list.
    let loops = entries.withLock { entries in entries.compactMap(\.loop) }
    return loops.last { $0.isHere }
  }
}
