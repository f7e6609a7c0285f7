import FeedStream
import Foundation
import Synchronization

/// The process's open descriptors, compared before and after its tests, even those of several folders in one process.
package enum Descriptors {
  private struct State {
    var running = 0
    /// The descriptors open before the first test, or already reported.
    var before: [String: Int]?
    var since: Set<String> = []
  }

  private static let state = Mutex(State())
  /// Descriptors that are opened once and kept: Foundation's, to start processes, and the pipe for signals of `EventLoop.main`.
  private static let kept = ["socket": 2, "pipe": 4]

  /// Call this when a test begins; a leak that it may have caused is reported with `name`.
  package static func testBegins(_ name: String) {
    state.withLock { state in
      if state.before == nil {
        warmUp()
        state.before = open()
      }
      state.running += 1
      state.since.insert(name)
    }
  }

  /// Call this when a test has ended; the last of the running tests checks for leaks.
  package static func testEnds(complain: (String) -> Void) async {
    state.withLock { $0.running -= 1 }
    // Threads that have been asked to stop close their descriptors a little later.
    for attempt in 0..<200 {
      let isSettled = state.withLock { state in
        // The last test to end checks.
        guard state.running == 0, let before = state.before else { return true }
        let left = left(since: before)
        if left.isEmpty {
          state.since = []
          return true
        }
        guard attempt == 199 else { return false }
        complain(
          """
          left open: \(left.joined(separator: ", ")), while these threads run: \(threads().joined(separator: ", ")), by one of: \
          \(state.since.sorted().joined(separator: ", "))
          """)
        state.before = open()
        state.since = []
        return true
      }
      if isSettled { return }
      try? await Task.sleep(for: .milliseconds(25))
    }
  }

  private static func left(since before: [String: Int]) -> [String] {
    open().compactMap { kind, count in
      let more = count - (before[kind] ?? 0) - (kept[kind] ?? 0)
      return more > 0 ? "\(more) of \(kind)" : nil
    }.sorted()
  }

  /// The number of each kind; files by their path.
  private static func open() -> [String: Int] {
    var kinds = ["event loop": EventLoop.open.load(ordering: .relaxed)]
    for number in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      // The folder being read is closed by now.
      guard let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") else {
        continue
      }
      // Foundation's run loops keep queues and timers as long as their threads live; our loops are counted separately.
      guard !place.hasPrefix("anon_inode") else { continue }
      kinds[place.hasPrefix("/") ? place : String(place.prefix { $0 != ":" }), default: 0] += 1
    }
    return kinds
  }

  /// The names of the process's threads: a loop that is open often has one.
  private static func threads() -> [String] {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
      .map { $0.trimmingCharacters(in: .newlines) }.sorted()
  }

  /// Makes the libraries open what they open once.
  private static func warmUp() {
    let loop = EventLoop()
    let signal = try? loop.signal(SIGURG) {}
    signal?.cancel()
    loop.offload {
    } completion: {
    }
    loop.run()
    loop.close()
  }
}
