import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@Suite(.settled) struct WithVirtualTimeTests {
  @Test func `a test without leftovers passes`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Int, Never>()
      let recorder = subject.map { $0 + 1 }.record(on: time)
      subject.send(1)
      subject.send(completion: .finished)
      recorder.expect("(2|)")
    }
  }

  @Test func `unchecked events and live subscriptions fail on their line`() {
    let failures = failures {
      withVirtualTime { time in
        let subject = PassthroughSubject<Int, Never>()
        let recorder = subject.record(on: time)
        subject.send(1)
        subject.send(2)
        #expect(recorder.ledger.used == 2)
      }
    }
    #expect(failures.map(\.line) == [#line - 6])
    #expect(
      failures.map(\.message) == [
        "The test did not expect 2 events: 0s 1, 0s 2. The subscription made here is still live: complete the stream, or cancel it."
      ])
  }

  @Test func `a missing subscription fails a test that checks for silence and then cancels`() {
    let failures = failures {
      withVirtualTime { time in
        let recorder = Silent().record(on: time)
        time.run()
        recorder.expect("-")
        recorder.cancel()
      }
      withVirtualTime { time in
        let recorder = Silent().record(on: time).cancelledAtEnd()
        time.run()
        recorder.expect("-")
      }
      withVirtualTime { time in Silent().verify(on: time).expectNoEvent(for: 1).thenCancel().verify() }
    }
    let lines: [Int] = [#line - 12, #line - 6, #line - 2]
    #expect(failures.map { Int($0.line) } == lines)
    #expect(failures.allSatisfy { $0.message.hasSuffix("The publisher delivered no subscription.") })
    withVirtualTime { time in
      let recorder = Just(1).delaySubscription(for: .seconds(2), scheduler: time).record(on: time)
      time.advance(by: .seconds(1))
      recorder.expect("-")
      recorder.cancel()
    }
  }

  @Test func `a missing subscription fails the test, unless the test cancels without checking the events`() {
    let failures = failures {
      withVirtualTime { time in
        let recorder = Silent().record(on: time)
        time.run()
        recorder.expect("-")
      }
      withVirtualTime { time in Silent().record(on: time).cancel() }
      withVirtualTime { time in Silent().verify(on: time).expectNoEvent(for: 1).verify() }
    }
    #expect(failures.map(\.message).first == "The publisher delivered no subscription.")
    #expect(failures.map(\.line) == [#line - 8, #line - 3])
  }

  @Test func `a recorder that is over leaves no work behind`() {
    withVirtualTime { time in
      let subject = PassthroughSubject<Int, Never>()
      let script = DemandScript(initial: .max(1), later: [.init(after: 10, .max(1))])
      let cancelled = subject.record(on: time, demand: script)
      let completed = subject.record(on: time, during: "^ 10s !")
      time.advance(by: 1)
      cancelled.cancel()
      subject.send(completion: .finished)
      completed.expect("1s |")
      #expect(time.pending.isEmpty)
    }
  }

  @Test func `unchecked events fail even when the recorder was released`() {
    let failures = failures {
      withVirtualTime { time in
        let recorder = [1, 2].publisher.record(on: time)
        #expect(recorder.ledger.used == 2)
      }
      withVirtualTime { time in
        _ = (time.cold("1|") as ScriptedPublisher<Int, MarbleFailure>).record(on: time)
        time.run()
      }
    }
    #expect(failures.map(\.line) == [#line - 8, #line - 4])
    #expect(
      failures.map(\.message) == [
        "The test did not expect 3 events: 0s 1, 0s 2, 0s finished.",
        "The test did not expect 2 events: 0s 1, 1ms finished.",
      ])
  }

  @Test func `a live subscription to a script fails on the script's line`() {
    var kept: AnyCancellable?
    var recorder: Recorder<Int, MarbleFailure>?
    let failures = failures {
      withVirtualTime { time in
        let source: ScriptedPublisher<Int, MarbleFailure> = time.hot("12")
        kept = source.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        time.run()
      }
      withVirtualTime { time in
        // The source is cancelled with the recorder, whose message is sufficient.
        let source: ScriptedPublisher<Int, MarbleFailure> = time.hot("12")
        kept = nil
        recorder = source.record(on: time)
        time.run()
      }
    }
    #expect(kept == nil && recorder != nil)
    let linesAbove = failures.map { UInt(#line) - $0.line }
    #expect(linesAbove == [13, 5])
    #expect(
      failures[0].message == "A subscription to the publisher made here is still live: subscribed at 0s, "
        + "requested unlimited at 0s, received 2. Cancel it, or complete the stream.")
  }

  @Test func `pending work fails on the line that scheduled it`() {
    let failures = failures {
      withVirtualTime { time in
        time.schedule(after: time.now.advanced(by: 5)) {}
      }
    }
    #expect(failures.map(\.line) == [#line - 3])
    #expect(failures[0].message.contains("Work due at 5s: "))
  }

  @Test func `pending work of one line fails once`() {
    let failures = failures {
      withVirtualTime { time in
        for second in 1...3 {
          time.schedule(after: time.now.advanced(by: .seconds(second))) {}
        }
      }
    }
    #expect(failures.map(\.line) == [#line - 4])
    #expect(failures[0].message.hasPrefix("3 pieces of work, the first due at 1s: FeedStreamTestingTests/"))
    #expect(
      failures[0].message.hasSuffix(" are still pending at the end of the test: cancel them, or run() to the end."))
  }

  @Test(arguments: [true, false])
  func `a task that waits for a real clock fails with what to write instead`(isCancelledAtEnd: Bool) {
    var kept: VirtualTimeScheduler?
    let failures = failures {
      withVirtualTime { time in
        kept = time
        let sleeping = Just(1).delay(for: .seconds(1), scheduler: time).flatMapLatest { _ in
          Future<Int, Never> {
            try? await Task.sleep(for: .seconds(3_600))
            return 1
          }
        }
        let recorder = isCancelledAtEnd ? sleeping.record(on: time).cancelledAtEnd() : sleeping.record(on: time)
        time.run()
        #expect(recorder.values == [])
      }
    }
    // The task, which is cancelled now, ends in virtual time.
    kept?.run()
    let reportsStream = failures.contains { $0.message.hasPrefix("The subscription made here is still live: ") }
    #expect(reportsStream != isCancelledAtEnd)
    #expect(failures.contains { $0.message.hasPrefix("Work due at 1s: a task or an actor is still pending") })
    #expect(failures.allSatisfy { $0.message.contains("or a task that sleeps on a real clock, pass it the Virtual") })
    #expect(failures.allSatisfy { !$0.message.contains("or run() to the end") })
  }

  @Test func `after a failed expectation, leftovers aren't reported`() {
    let failures = failures {
      withVirtualTime { time in
        let source = time.hot("a-b-c|")
        let recorder = source.delay(for: 1, scheduler: time).record(on: time)
        time.advance(by: .milliseconds(2))
        recorder.expect("a-b-c|")
      }
    }
    #expect(failures.map(\.line) == [#line - 3])
  }

  @Test func `cancelledAtEnd() cancels a recorder without a failure`() {
    withVirtualTime { time in
      let ticks = Interval(every: 1, scheduler: time)
      let recorder = ticks.map { _ in "x" }.record(on: time).cancelledAtEnd()
      time.advance(by: 2.5)
      recorder.expect("1s x 1s x")
    }
    let failures = failures {
      withVirtualTime { time in
        let subject = PassthroughSubject<Int, Never>()
        let recorder = subject.record(on: time).cancelledAtEnd()
        subject.send(1)
        #expect(recorder.ledger.used == 1)
      }
    }
    #expect(failures.map(\.message) == ["The test did not expect an event: 0s 1."])
  }

  @Test func `cancelledAtEnd() outside withVirtualTime retains nothing`() {
    weak var recorder: Recorder<Int, Never>?
    do {
      let kept = Empty<Int, Never>().record(on: VirtualTimeScheduler()).cancelledAtEnd()
      recorder = kept
      #expect(kept.completion == .finished)
    }
    #expect(recorder == nil)
  }

  @Test func `a retained subscriber fails on its line`() {
    var kept: Recorder<Int, Never>?
    let failures = failures {
      withVirtualTime { time in
        kept = [1].publisher.record(on: time)
        _ = kept?.events
      }
    }
    #expect(failures.map(\.line) == [#line - 4])
    #expect(failures[0].message.contains("still retained"))
    #expect(failures[0].message.contains("(docs/Troubleshooting.md#a-subscriber-is-still-retained)"))
    #expect(kept != nil)
  }

  @Test func `an asynchronous test may continue on another thread`() async {
    await #expect(processExitsWith: .success) { await Hopper().go() }
  }

  @Test func `a subject in virtual time traps if a task uses it while another thread advances time`() async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await Hopper().sendWhileTimeAdvances()
    }
    let text = ending.map { String(decoding: $0.standardErrorContent, as: UTF8.self) }
    #expect(text?.contains("touched on a different thread than before") == true)
  }

  @Test func `a failure states the seed, and the seed reproduces it`() {
    // Two timers race: the result depends on their order.
    func race(_ time: VirtualTimeScheduler) {
      let subject = PassthroughSubject<Int, Never>()
      let recorder = subject.record(on: time)
      for value in 1...2 { time.schedule(after: time.now.advanced(by: 1)) { subject.send(value) } }
      time.run()
      recorder.expect("1s (12)")
      recorder.cancel()
    }
    let failures = failures { withVirtualTime(seeds: 0..<20) { race($0) } }
    #expect(!failures.isEmpty && failures.count < 20)
    let seed = failures[0].message.split(separator: ".seeded(").last!.prefix { $0.isNumber }
    let again = FeedStreamTestingTests.failures { withVirtualTime(order: .seeded(UInt64(seed)!)) { race($0) } }
    #expect(again.map(\.message) == [failures[0].message])
  }

  @Test func `a test without seeds fails, because it didn't run`() {
    let failures = failures { withVirtualTime(seeds: [UInt64]()) { _ in } }
    #expect(failures.map(\.line) == [#line - 1])
    #expect(failures.map(\.message) == ["The test didn't run, because there are no seeds: pass at least one."])
  }

  @Test func `work that never becomes due isn't called pending work to wait for`() {
    let failures = failures {
      withVirtualTime { time in
        let recorder = Just(1).delay(for: .nanoseconds(.max), scheduler: time).record(on: time)
        time.run()
        recorder.expect("1")
        recorder.cancel()
      }
      withVirtualTime { $0.schedule(after: StreamInstant(nanoseconds: .max)) {} }
    }
    #expect(failures.count == 2)
    #expect(failures.first?.message.contains("No work is left in virtual time") == true)
    #expect(failures.last?.message.hasSuffix("still pending at the end of the test: cancel it.") == true)
  }
}

/// Runs each step of an actor on a new thread, so that the code after each `await` runs on another thread than before.
private final class Hops: SerialExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    Thread.detachNewThread { [self] in
      job.runSynchronously(on: asUnownedSerialExecutor())
      // Keep the thread until the process exits, because the system reuses the identifiers of ended threads.
      DispatchSemaphore(value: 0).wait()
    }
  }
}

private actor Hopper {
  private let hops = Hops()
  nonisolated var unownedExecutor: UnownedSerialExecutor { hops.asUnownedSerialExecutor() }

  /// Touches subjects and timers first in virtual time, or first in the test, and then on other threads.
  func go() async {
    await withVirtualTime { time in
      let subject = PassthroughSubject<Int, Never>()
      let recorder = subject.record(on: time, during: "-^")
      let paused = PassthroughSubject<Int, Never>()
      let debounced = paused.debounce(for: .milliseconds(5), scheduler: time).record(on: time)
      paused.send(1)
      time.advance(by: .milliseconds(2))
      await Task.yield()
      subject.send(1)
      paused.send(2)
      time.advance(by: .milliseconds(1))
      await Task.yield()
      subject.send(2)
      time.advance(by: .milliseconds(10))
      recorder.expect("--12")
      debounced.expect("-------2")
      await Task.yield()
      recorder.cancel()
      debounced.cancel()
    }
  }

  // @unchecked: the process must end when the task uses the subject.
  private struct Handed: @unchecked Sendable {
    let subject: PassthroughSubject<Int, Never>
  }

  /// Touches a subject in virtual time, and then in a task while time advances.
  func sendWhileTimeAdvances() {
    let time = VirtualTimeScheduler()
    let handed = Handed(subject: PassthroughSubject())
    let recorder = handed.subject.record(on: time, during: "-^")
    time.schedule(after: time.now.advanced(by: .milliseconds(2))) {
      handed.subject.send(1)
      let sent = DispatchSemaphore(value: 0)
      Task.detached {
        handed.subject.send(2)
        sent.signal()
      }
      sent.wait()
    }
    time.run()
    recorder.cancel()
  }
}
