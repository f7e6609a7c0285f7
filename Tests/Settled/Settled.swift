import FeedStream
import Foundation
import Synchronization
import Testing

// One file, linked into each folder of tests.

/// Has a suite's tests leave the process as they found it: whatever event loops, connections, origins, databases and files
/// they open are closed when they are over.
///
/// Tests run side by side and share their process's descriptors, so that those are compared whenever no test runs, at the
/// latest after the last; what is found then is one of the tests' since the time before. Subscriptions and other objects
/// that nobody holds any more are for `Scripts/sanitize leaks` to find, and in virtual time for `withVirtualTime`.
struct Settled: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    Descriptors.testBegins(test.name)
    do {
      try await body()
    } catch {
      await Descriptors.testEnds()
      throw error
    }
    await Descriptors.testEnds()
  }
}

extension Trait where Self == Settled {
  /// See ``Settled``.
  static var settled: Settled { Settled() }
}

/// The process's open descriptors, watched across its tests.
private enum Descriptors {
  private struct State {
    var running = 0
    /// What was open before the first test, or has been complained about.
    var before: [String: Int]?
    var since: Set<String> = []
  }

  private static let state = Mutex(State())
  /// What Foundation opens once and keeps, to start processes with.
  private static let kept = ["socket": 2, "pipe": 2]

  static func testBegins(_ name: String) {
    state.withLock { state in
      if state.before == nil {
        warmUp()
        state.before = open()
      }
      state.running += 1
      state.since.insert(name)
    }
  }

  static func testEnds() async {
    state.withLock { $0.running -= 1 }
    // Threads that were told to stop close what they have in their own time.
    for attempt in 0..<200 {
      let isSettled = state.withLock { state in
        // Whoever ends last looks.
        guard state.running == 0, let before = state.before else { return true }
        let left = left(since: before)
        if left.isEmpty {
          state.since = []
          return true
        }
        guard attempt == 199 else { return false }
        Issue.record(
          "left open: \(left.joined(separator: ", ")), by one of: \(state.since.sorted().joined(separator: ", "))")
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

  /// How many there are of each kind; files by their path.
  private static func open() -> [String: Int] {
    var kinds = ["event loop": EventLoop.open.load(ordering: .relaxed)]
    for number in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
      // The folder that is being read is gone by now.
      guard let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)") else {
        continue
      }
      // Foundation's run loops keep queues and timers as long as their threads live; a loop of ours is counted as such.
      guard !place.hasPrefix("anon_inode") else { continue }
      kinds[place.hasPrefix("/") ? place : String(place.prefix { $0 != ":" }), default: 0] += 1
    }
    return kinds
  }

  /// Has the libraries open what they open once.
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
