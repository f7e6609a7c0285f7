import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct TimelessSchedulerTests {
  @Test func `the immediate scheduler runs all work within the schedule call`() {
    let recorder = Just(1).delay(for: 5, scheduler: .immediate).record()
    #expect(recorder.values == [1])
    var runs = 0
    let scheduler: any LoopScheduler = ImmediateTimeScheduler()
    scheduler.schedule { runs += 1 }
    scheduler.schedule(after: scheduler.now.advanced(by: 5)) { runs += 1 }
    scheduler.schedule(after: scheduler.now, interval: 1) { runs += 1 }.cancel()
    scheduler.offload {
      3
    } completion: {
      runs += $0
    }
    #expect(runs == 6)
  }

  @Test func `an unimplemented scheduler fails the test once, on the line that created it`() {
    let failures = failures {
      let recorder = Just(1).delay(for: 5, scheduler: .unimplemented("the search")).record()
      #expect(recorder.values == [])
      recorder.cancel()
      _ = Just(1).map { $0 + 1 }.receive(on: .unimplemented())
    }
    #expect(failures.map(\.line) == [#line - 5])
    #expect(failures[0].message.hasPrefix("UnimplementedScheduler (“the search”): "))
    #expect(
      failures[0].message.hasSuffix(
        ", which this test should not need; use a VirtualTimeScheduler or an immediate scheduler."))
  }

  @Test func `every use of an unimplemented scheduler fails`() {
    let uses: [(UnimplementedScheduler) -> Void] = [
      { _ = $0.now }, { $0.schedule {} }, { $0.schedule(after: StreamInstant(nanoseconds: 0)) {} },
      { $0.schedule(after: StreamInstant(nanoseconds: 0), interval: 1) {}.cancel() },
      {
        $0.offload {
          1
        } completion: { _ in
        }
      },
    ]
    for use in uses { #expect(failures { use(UnimplementedScheduler()) }.count == 1) }
  }

  #if os(Linux)
    @Test func `an unimplemented scheduler that another thread uses fails the run`() throws {
      let (status, output) = try runTests(
        ["--testing-library", "swift-testing", "--filter", "OtherThreadTests"], [OtherThreadTests.variable: "1"])
      #expect(status != 0)
      #expect(output.contains("UnimplementedScheduler (“the search”): work was scheduled"), "\(output)")
    }
  #endif
}

/// Fails only in the process that `TimelessSchedulerTests` starts.
@Suite(.settled) struct OtherThreadTests {
  static let variable = "USES_SCHEDULER_ON_OTHER_THREAD"

  @Test func `another thread uses an unimplemented scheduler, if requested`() {
    guard ProcessInfo.processInfo.environment[Self.variable] != nil else { return }
    let scheduler = UnimplementedScheduler("the search")
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      scheduler.schedule {}
      done.signal()
    }
    done.wait()
  }
}
