import Dispatch
import FeedStream
import TestSupport
import Testing

/// Each test runs in its own process, because warnings are process-wide.
@Suite("Warnings say which step is missing", .settled) struct FurtherWarningTests {
  private func count(_ text: String, in result: ExitTest.Result?) -> Int {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).split(separator: "\n")
      .count { $0.contains(": warning: ") && $0.contains(text) }
  }

  @Test func `releasing an OnLoop in the statement that makes it warns`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try FurtherWarningTests.releaseHandles()
    }
    #expect(count("the OnLoop was released as soon as it was made", in: result) == 2)
    #expect(result?.says("FeedStreamTests/FurtherWarningTests.swift:") == true)
  }

  // A separate function, because all code within the macro has the same line number.
  private static func releaseHandles() throws {
    StreamDiagnostics.writeWarnings()
    let thread = try EventLoopThread()
    let (isFree, isMade) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    // The loop is busy, so that it can't make the states first.
    thread.loop.execute { isFree.wait() }
    _ = thread.run { _ in PassthroughSubject<Int, Never>().sink { _ in } }
    _ = OnLoop(thread.loop) { _ in PassthroughSubject<Int, Never>().sink { _ in } }
    // These warn about nothing: they are cancelled, used, without state, or kept.
    OnLoop(thread.loop) { _ in 1 }.cancel()
    OnLoop(thread.loop) { _ in 1 }.run { $0 += 1 }
    _ = thread.run { _ in }
    isFree.signal()
    // Its state works while this thread waits.
    let kept = thread.run { _ -> AnyCancellable in
      isMade.signal()
      return PassthroughSubject<Int, Never>().sink { _ in }
    }
    isMade.wait()
    withExtendedLifetime(kept) { thread.shutdown() }
  }

  @Test func `a loop that returns while a connectable publisher isn't connected says so`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread { FurtherWarningTests.leaveUnconnected() }
    }
    #expect(count("still live: a connectable publisher above it isn't connected", in: result) == 2)
    #expect(count("use run(.untilStopped)", in: result) == 0)
  }

  // A separate function, as above.
  private static func leaveUnconnected() {
    let loop = EventLoop()
    let other = PassthroughSubject<Int, Never>().sink { _ in }
    let timer = Publishers.Timer(every: .seconds(1), scheduler: loop).sink { _ in }
    loop.run()
    timer.cancel()
    let numbers = PassthroughSubject<Int, Never>().makeConnectable().scan(0, +).sink { _ in }
    loop.run()
    for subscription in [other, numbers] { subscription.cancel() }
    loop.close()
  }

  @Test func `a loop that returns while a connected publisher is live doesn't speak of a connection`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      await WarningTests.onThread {
        let loop = EventLoop()
        let connectable = PassthroughSubject<Int, Never>().makeConnectable()
        let numbers = connectable.merge(with: PassthroughSubject<Int, Never>().share()).sink { _ in }
        let connection = connectable.connect()
        loop.run()
        connection.cancel()
        numbers.cancel()
        loop.close()
      }
    }
    #expect(count("still live: nothing was left on the loop", in: result) == 1)
  }

  @Test func `parallelMap on a group that was shut down warns with the subscription's place`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      let group = try EventLoopGroup(count: 1)
      group.shutdown()
      await WarningTests.onThread {
        let loop = EventLoop()
        let results = (1...3).publisher.parallelMap(on: group) { $0 * 2 }.sink { _ in }
        loop.run()
        results.cancel()
        loop.close()
      }
    }
    #expect(count("FurtherWarningTests.swift:", in: result) == 1)
    #expect(count(": warning: ParallelMap: a value was sent to a closed loop", in: result) == 1)
  }
}
