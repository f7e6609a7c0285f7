internal import CLibUV
import Synchronization

extension EventLoop {
  /// Called when another thread sends work. Warns if the loop has not run a while later.
  func watchFirstRun() {
    guard host == nil, !firstRun.hasBegun.load(ordering: .relaxed) else { return }
    firstRun.expect()
  }
}

/// Records whether a loop has run. One thread watches all loops that have work but have never run, as long as there are
/// any.
final class FirstRun: Sendable {
  /// True when the loop has run, or was closed.
  let hasBegun = Atomic(false)
  private let isExpected = Atomic(false)

  /// The time for which work may wait before a warning, in nanoseconds: two seconds.
  private static let longestWait: UInt64 = 2_000_000_000
  private static let expected = Locked<[(run: FirstRun, since: UInt64)]>([])

  func expect() {
    guard !isExpected.exchange(true, ordering: .relaxed) else { return }
    let isFirst = Self.expected.withLock { list in
      list.append((self, uv_hrtime()))
      return list.count == 1
    }
    // Without a thread, there is no warning.
    if isFirst { (try? Thread(name: "first-runs") { while Self.waits() {} })?.detach() }
  }

  /// - Returns: false if no loop is left.
  private static func waits() -> Bool {
    uv_sleep(500)
    let now = uv_hrtime()
    let (isLate, isLeft) = expected.withLock { list in
      list.removeAll { $0.run.hasBegun.load(ordering: .relaxed) }
      let isLate = list.contains { now - $0.since >= longestWait }
      list.removeAll { now - $0.since >= longestWait }
      return (isLate, !list.isEmpty)
    }
    if isLate {
      Warnings.warn(
        .neverRun, at: "EventLoop",
        """
        work from another thread waits for this loop, which has never run; call its run(), or use EventLoop.main where \
        RunLoop.main.run() or dispatchMain() runs the program
        """)
    }
    return isLeft
  }
}
