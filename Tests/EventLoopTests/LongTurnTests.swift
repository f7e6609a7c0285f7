import FeedStream
import Foundation
import TestSupport
import Testing

/// Each test runs in its own process, because warnings are process-wide.
@Suite("A turn that blocks its loop is reported while it lasts", .settled) struct LongTurnTests {
  /// Runs `body` on its own thread, with that thread's loop.
  private static func onLoop(_ body: @escaping @Sendable (EventLoop) -> Void) async {
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Foundation.Thread.detachNewThread {
        let loop = EventLoop()
        body(loop)
        loop.close()
        done.resume()
      }
    }
  }

  /// Records warnings as they arrive, with the events so far.
  private final class Reports: Sendable {
    private let reports = Locked<[(StreamWarning, whileBlocked: Bool)]>([])
    private let blocked = Locked(false)

    init(longerThan limit: Duration? = .milliseconds(100)) {
      StreamDiagnostics.warnOfTurns(longerThan: limit)
      StreamDiagnostics.onWarning { [reports, blocked] warning in
        let isBlocked = blocked.withLock { $0 }
        reports.withLock { $0.append((warning, isBlocked)) }
      }
    }

    func whileBlocked(_ body: () -> Void) {
      blocked.withLock { $0 = true }
      body()
      blocked.withLock { $0 = false }
    }

    var all: [(StreamWarning, whileBlocked: Bool)] { reports.withLock { $0 } }

    /// Waits for `count` reports, at most ten seconds.
    func wait(for count: Int) {
      for _ in 0..<1_000 where all.count < count { usleep(10_000) }
    }
  }

  @Test func `the report is made while the loop is blocked, and its stack trace names the function`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports()
      await Self.onLoop { loop in
        loop.schedule { reports.whileBlocked { computeForever(until: { reports.all.count == 1 }) } }
        loop.run()
      }
      let report = try #require(reports.all.first)
      #expect(report.0.kind == .longTurn && report.whileBlocked)
      #expect(report.0.message.contains("a turn takes longer than 100 ms"), "\(report.0)")
      #expect(report.0.message.contains("offload(_:completion:)"))
      #if os(Linux)
        #expect(report.0.stack.contains { $0.contains("computeForever") }, "\(report.0)")
        // The stack must not show the functions that run the loop.
        #expect(!report.0.stack.contains { $0.hasPrefix("uv_run ") || $0.contains("EventLoop.run(") }, "\(report.0)")
      #endif
    }
  }

  @Test(.disabled(if: Sanitizer.current == .thread, "this sanitizer calls signal handlers after the blocking call"))
  func `a blocking call that the signal ends, and the turn with it, is in the stack trace`() async {
    await #expect(processExitsWith: .success) {
      let calls: [(name: String, call: @Sendable () -> Void)] = [
        ("blockInUsleep", blockInUsleep), ("blockInSleep", blockInSleep), ("blockInPoll", blockInPoll),
        ("blockInNanosleep", blockInNanosleep), ("blockInSelect", blockInSelect),
      ]
      for blocking in calls {
        // Each report is the first of its place, because the handler is set again.
        let reports = Reports()
        await Self.onLoop { loop in
          loop.schedule { blocking.call() }
          // Other turns follow, whose calls must not be in the stack.
          loop.schedule(after: loop.now.advanced(by: .milliseconds(150))) {
            computeForever(until: after(.milliseconds(20)))
          }
          loop.run()
        }
        reports.wait(for: 1)
        #if os(Linux)
          let stack = try #require(reports.all.first?.0.stack)
          #expect(stack.contains { $0.contains(blocking.name) }, "\(blocking.name): \(stack)")
          #expect(!stack.contains { $0.contains("computeForever") }, "\(blocking.name): \(stack)")
        #endif
      }
    }
  }

  @Test func `neither waiting nor short turns are reported`() async {
    await #expect(processExitsWith: .success) {
      // On a busy machine, the thread may get no processor for a while, which the system counts only afterwards.
      let reports = Reports(longerThan: .seconds(1))
      await Self.onLoop { loop in
        for step in 1...20 {
          loop.schedule(after: loop.now.advanced(by: .milliseconds(30 * step))) { usleep(5_000) }
        }
        loop.schedule(after: loop.now.advanced(by: .milliseconds(2_500))) {}
        loop.run()
      }
      #expect(reports.all.map(\.0) == [])
    }
  }

  @Test func `a wait that a signal interrupts isn't reported`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports()
      signal(SIGUSR1) { _ in }
      await Self.onLoop { loop in
        let thread = Locked(pthread_self())
        Foundation.Thread.detachNewThread {
          for _ in 0..<3 {
            usleep(200_000)
            _ = thread.withLock { pthread_kill($0, SIGUSR1) }
          }
        }
        loop.schedule(after: loop.now.advanced(by: .seconds(1))) {}
        loop.run()
      }
      #expect(reports.all.map(\.0) == [])
    }
  }

  @Test func `each place is reported only once`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports(longerThan: .milliseconds(40))
      await Self.onLoop { loop in
        for _ in 0..<3 { loop.schedule { computeForever(until: after(.milliseconds(1_100))) } }
        loop.schedule { computeElsewhere() }
        loop.run()
      }
      #if os(Linux)
        func count(_ function: String) -> Int {
          reports.all.count { report in report.0.stack.contains { $0.contains(function) } }
        }
        // On a busy machine, the second report may come too late.
        #expect(count("computeForever") == 1 && count("computeElsewhere") <= 1, "\(reports.all)")
      #endif
    }
  }

  @Test func `a report names the loop of another thread`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports()
      let thread = try EventLoopThread(name: "feeds")
      thread.loop.execute { computeForever(until: { reports.all.count == 1 }) }
      reports.wait(for: 1)
      thread.shutdown()
      #expect(reports.all.map(\.0.place) == ["EventLoop of thread feeds"])
    }
  }

  @Test func `a report names the loop of the main queue`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports()
      EventLoop.main.execute { computeForever(until: { reports.all.count == 1 }) }
      reports.wait(for: 1)
      #expect(reports.all.map(\.0.place) == ["EventLoop of the main queue"])
    }
  }

  @Test func `without a limit, no turn is reported`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports(longerThan: nil)
      await Self.onLoop { loop in
        loop.schedule { computeForever(until: after(.milliseconds(600))) }
        loop.run()
      }
      #expect(reports.all.map(\.0) == [])
    }
  }

  @Test func `with a limit of centuries, no turn is reported`() async {
    await #expect(processExitsWith: .success) {
      let reports = Reports(longerThan: .seconds(10_000_000_000))
      await Self.onLoop { loop in
        loop.schedule { computeForever(until: after(.milliseconds(200))) }
        loop.run()
      }
      #expect(reports.all.map(\.0) == [])
    }
  }

  @Test func `a program that handles the signal itself gets reports without a stack trace`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGURG) { _ in abort() }
      let reports = Reports()
      await Self.onLoop { loop in
        loop.schedule { computeForever(until: { reports.all.count == 1 }) }
        loop.run()
      }
      #expect(reports.all.map(\.0.stack) == [[]])
    }
  }

  @Test func `the warning on standard error includes the stack trace`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await Self.onLoop { loop in
        loop.schedule { computeForever(until: after(.milliseconds(1_500))) }
        loop.run()
      }
    }
    let lines = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
    #expect(
      lines.first?.contains(": a turn takes longer than 100 ms, and nothing else runs") == true, "\(lines)")
    #expect(
      lines.first?.hasSuffix("; reported once per place; FEEDSTREAM_WARNINGS=off turns warnings off)") == true,
      "\(lines)")
    #if os(Linux)
      #expect(lines.dropFirst().contains { $0.hasPrefix("  in ") && $0.contains("computeForever") }, "\(lines)")
      // The culprit is a function of this file.
      #expect(lines.first?.contains("EventLoopTests.") == true, "\(lines)")
    #endif
  }
}

/// Returns a function that returns true once `time` has passed, for half of which the thread has had a processor: time
/// without one is not reported.
private func after(_ time: Duration) -> () -> Bool {
  let end = ContinuousClock.now.advanced(by: time)
  let enough = processorTime() + time / 2
  return { ContinuousClock.now >= end && processorTime() >= enough }
}

/// The time for which this thread has had a processor.
private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

// Functions whose names a stack trace shows. A report's signal ends the blocking calls early.
@inline(never) private func computeForever(until isOver: () -> Bool) {
  let limit = ContinuousClock.now.advanced(by: .seconds(60))
  while !isOver(), ContinuousClock.now < limit {}
}

@inline(never) private func computeElsewhere() { computeForever(until: after(.milliseconds(1_100))) }

@inline(never) @Sendable private func blockInUsleep() { usleep(5_000_000) }

@inline(never) @Sendable private func blockInSleep() { sleep(5) }

@inline(never) @Sendable private func blockInPoll() { poll(nil, 0, 5_000) }

@inline(never) @Sendable private func blockInNanosleep() {
  var time = timespec(tv_sec: 5, tv_nsec: 0)
  nanosleep(&time, nil)
}

@inline(never) @Sendable private func blockInSelect() {
  var time = timeval(tv_sec: 5, tv_usec: 0)
  select(0, nil, nil, nil, &time)
}
