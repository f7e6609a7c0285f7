import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// Each test runs in its own process, because warnings are process-wide, and other tests set the hook for drops, which
/// replaces warnings.
@Suite("Probable mistakes are written to standard error, once per place", .settled) struct WarningTests {
  /// The warnings that `result` wrote, without their places.
  private func warnings(_ result: ExitTest.Result?) -> [String] {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
      .compactMap { $0.range(of: ": warning: ").map { [line = $0] range in String(line[range.upperBound...]) } }
  }

  private func expect(
    _ expected: String..., in result: ExitTest.Result?, _ location: SourceLocation = #_sourceLocation
  ) {
    let warnings = warnings(result)
    #expect(warnings.count == expected.count, "\(warnings)", sourceLocation: location)
    for (warning, text) in zip(warnings, expected) {
      #expect(warning.contains(text), "\(warning)", sourceLocation: location)
      #expect(warning.contains("FEEDSTREAM_WARNINGS=off"), sourceLocation: location)
    }
  }

  /// Runs `body` on its own thread, outside of any task.
  static func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        body()
        done.resume()
      }
    }
  }

  // MARK: Values

  @Test func `sending a value without a subscriber warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      for _ in 0..<2 {
        let subject = PassthroughSubject<Int, Never>()
        for number in 0..<3 { subject.send(number) }
      }
      CurrentValueSubject<Int, Never>(0).send(1)
      ReplaySubject<Int, Never>(count: 1).send(1)
    }
    expect("PassthroughSubject: a value was sent while there was no subscriber", in: result)
    #expect(result?.says("FeedStreamTests/WarningTests.swift:") == true)
  }

  @Test func `sending a value after the completion warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let subject = CurrentValueSubject<Int, Never>(0)
      subject.send(completion: .finished)
      subject.send(1)
      subject.value = 2
      let source = Create<Int, Never> { emitter in
        emitter.send(completion: .finished)
        emitter.send(1)
      }
      source.sink { _ in }.cancel()
    }
    expect(
      "CurrentValueSubject: a value was sent after the completion", "a value was sent after the completion", in: result)
  }

  @Test func `a value dropped without demand warns, except in operators meant to drop values`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let subject = PassthroughSubject<Int, Never>()
      let hungry = subject.record(demand: .none)
      subject.send(1)
      hungry.cancel()
      let full = subject.onBackpressureDrop().record(demand: .none)
      subject.send(1)
      full.cancel()
      let zipped = [1, 2, 3].publisher.zip([1].publisher).record()
      zipped.cancel()
    }
    expect("PassthroughSubject: a value was dropped, because a subscriber had not requested it", in: result)
  }

  @Test func `values that a failure overtakes cause a warning that names the failure`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      struct Broken: Error {}
      StreamDiagnostics.writeWarnings()
      let subject = PassthroughSubject<Int, Broken>()
      let held = subject.buffer(size: 2, prefetch: .keepFull, whenFull: .dropNewest).record(demand: .none)
      subject.send(1)
      subject.send(completion: .failure(Broken()))
      held.cancel()
    }
    expect("a value was dropped, because the stream failed before a subscriber had requested the value", in: result)
  }

  // MARK: Subscriptions

  @Test func `releasing a subscription in the statement that makes it warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      WarningTests.releaseAtOnce()
    }
    let text = "the subscription was released as soon as it was made"
    expect(text, text, text, text, text, in: result)
  }

  // A separate function, because all code within the macro has the same line number.
  private static func releaseAtOnce() {
    StreamDiagnostics.writeWarnings()
    final class Box { var value = 0 }
    let box = Box()
    let subject = PassthroughSubject<Int, Never>()
    _ = subject.sink { _ in }
    _ = subject.assign(to: \.value, on: box)
    _ = subject.sink(on: box) { _, _ in }
    _ = subject.subscribe(PassthroughSubject<Int, Never>())
    _ = subject.receive(on: DispatchQueue.global()).sink { _ in }
  }

  @Test func `cancelling a handle releases its subscriptions without a warning`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let loop = EventLoop()
      let handle = OnLoop(loop) { _ in PassthroughSubject<Int, Never>().sink { _ in } }
      loop.run(.oneTurn)
      handle.cancel()
      loop.run(.oneTurn)
    }
    expect(in: result)
  }

  @Test func `releasing a used subscription, or cancelling one, doesn't warn`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let subject = PassthroughSubject<Int, Never>()
      _ = [1, 2].publisher.sink { _ in }
      subject.sink { _ in }.cancel()
      do {
        let first = subject.sink { _ in }
        subject.send(1)
        withExtendedLifetime(first) {}
      }
      do {
        let filtered = subject.filter { _ in false }.sink { _ in }
        subject.send(1)
        withExtendedLifetime(filtered) {}
      }
      var kept: Set<AnyCancellable> = []
      subject.sink { _ in }.store(in: &kept)
      subject.send(1)
      kept = []
    }
    expect(in: result)
  }

  // MARK: Loops

  @Test func `sending work or values to a closed loop warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread {
        let loop = EventLoop()
        let subject = PassthroughSubject<Int, Never>()
        let sender = subject.sender(on: loop)
        loop.close()
        sender.send(1)
        loop.execute {}
      }
    }
    expect(
      "a value was sent to a closed loop", "EventLoop.execute: work was sent to a closed loop", in: result)
    #expect(result?.says("StreamSender<Int, Never>: warning: a value") == true)
  }

  @Test func `a loop that returns with live subscriptions warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread {
        let loop = EventLoop()
        let subject = PassthroughSubject<Int, Never>()
        let kept = [subject.sink { _ in }, subject.map { $0 + 1 }.sink { _ in }, Just(1).sink { _ in }]
        loop.run()
        loop.schedule { loop.stop() }
        loop.run(.untilStopped)
        for subscription in kept { subscription.cancel() }
        loop.run()
      }
    }
    expect("the loop returned from run() with this subscription and 1 more still live", in: result)
    #expect(
      result?.says("if a task, the main queue or another thread still sends values, use run(.untilStopped)") == true)
    #expect(result?.says("if its owner retains itself, capture it weakly, or use assign(to: &$property)") == true)
  }

  @Test func `a loop that returns with only keepsLoopAlive(false) subscriptions doesn't warn`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread {
        let loop = EventLoop()
        let subject = PassthroughSubject<Int, Never>()
        let kept = [
          subject.keepsLoopAlive(false).sink { _ in },
          Signals.received(SIGUSR1, on: loop).replaceError(with: 0).sink { _ in },
        ]
        loop.run()
        for subscription in kept { subscription.cancel() }
        loop.run()
        loop.close()
      }
    }
    expect(in: result)
  }

  @Test func `a loop that never runs warns when it is released, or the process exits, while a stream waits`() async {
    let released = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread {
        let subject = PassthroughSubject<Int, Never>()
        var loop: EventLoop? = EventLoop()
        let waiting = subject.sink { _ in }
        loop = nil
        withExtendedLifetime((loop, waiting)) {}
        // A stream that has received a value doesn't wait for the loop, and a closed loop was meant not to run.
        let second = EventLoop()
        let served = subject.sink { _ in }
        subject.send(1)
        let third = EventLoop()
        let closed = subject.sink { _ in }
        third.close()
        withExtendedLifetime((second, served, closed)) {}
      }
    }
    expect("this stream waits for an EventLoop that has never run", in: released)
    #expect(released?.says("FeedStreamTests/WarningTests.swift:") == true)
    let exited = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let loop = EventLoop()
          let ticks = Interval(every: .milliseconds(1), scheduler: loop).sink { _ in }
          withExtendedLifetime(ticks) { exit(0) }
        }
      }
    }
    expect("this stream waits for an EventLoop that has never run", in: exited)
  }

  @Test func `a loop waiting for values that no task iterates warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread {
        let loop = EventLoop()
        let values = [1, 2].publisher.values
        // This work runs after the warning.
        loop.schedule(after: loop.now.advanced(by: .milliseconds(10))) {}
        let late = Thread {
          usleep(5_000_000)
          loop.stop()
        }
        late.start()
        loop.run()
        withExtendedLifetime(values) {}
        loop.close()
      }
    }
    expect("wait for a task to iterate the values created on the loop", in: result)
  }

  // MARK: On and off

  @Test func `warnings are on in debug builds and off in release builds, unless the environment differs`() async {
    let byDefault = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      unsetenv("FEEDSTREAM_WARNINGS")
      PassthroughSubject<Int, Never>().send(1)
    }
    #if DEBUG
      expect("while there was no subscriber", in: byDefault)
    #else
      expect(in: byDefault)
    #endif
    let on = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("FEEDSTREAM_WARNINGS", "on", 1)
      PassthroughSubject<Int, Never>().send(1)
    }
    expect("while there was no subscriber", in: on)
    let off = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("FEEDSTREAM_WARNINGS", "off", 1)
      let subject = PassthroughSubject<Int, Never>()
      subject.send(1)
      _ = subject.sink { _ in }
    }
    expect(in: off)
  }

  @Test func `a subscription kept while its values arrive on a queue doesn't warn`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let arrived = DispatchSemaphore(value: 0)
          do {
            let kept = Just(1).receive(on: DispatchQueue(label: "queue")).sink { _ in arrived.signal() }
            withExtendedLifetime(kept) { arrived.wait() }
          }
          do {
            let kept = Empty<Int, Never>().receive(on: DispatchQueue(label: "queue")).sink { _ in
              arrived.signal()
            } receiveValue: { _ in
            }
            withExtendedLifetime(kept) { arrived.wait() }
          }
          exit(0)
        }
      }
    }
    expect(in: result)
  }

  @Test func `a cancelled subscription on a queue doesn't warn`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let cancelled = Just(1).delay(for: .seconds(60), scheduler: DispatchQueue.global()).sink { _ in }
      cancelled.cancel()
    }
    expect(in: result)
  }

  @Test func `onWarning receives the warnings, except dropped values when onDrop is set`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let heard = Journal<StreamWarning.Kind>()
      StreamDiagnostics.onWarning { heard.note($0.kind) }
      let subject = PassthroughSubject<Int, Never>()
      _ = subject.sink { _ in }
      subject.send(1)
      StreamDiagnostics.onDrop { _ in }
      PassthroughSubject<Int, Never>().send(1)
      #expect(heard.entries == [.releasedAtOnce, .sentToNobody])
      StreamDiagnostics.onDrop(nil)
      StreamDiagnostics.onWarning(nil)
      StreamDiagnostics.writeWarnings(false)
      subject.send(1)
      PassthroughSubject<Int, Never>().send(1)
      exit(heard.entries.count == 2 ? 0 : 1)
    }
    expect(in: result)
  }
}
