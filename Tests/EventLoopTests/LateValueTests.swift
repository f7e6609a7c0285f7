import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// The drops that `StreamDiagnostics` reports, as text. The hook is process-wide, so each test has its own process.
private func drops() -> AsyncStream<String> {
  let (drops, report) = AsyncStream<String>.makeStream()
  StreamDiagnostics.onDrop { report.yield("\($0.source) \($0.value)") }
  return drops
}

/// Waits until `loop` has run all work posted so far.
private func turn(of loop: EventLoop) async {
  await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
}

@Suite("Values that arrive too late are reported", .settled, .timeLimit(.minutes(5))) struct LateValueTests {
  @Test func `results of tasks are reported when their loop is closed, and iteration of a sequence stops`() async {
    await #expect(processExitsWith: .success) {
      let drops = drops()
      let (answer, answering) = AsyncStream<Int>.makeStream()
      let (mapping, mapped) = AsyncStream<Int>.makeStream()
      let (opening, open) = AsyncStream<Int>.makeStream()
      let calls = Mutex(0)
      let elements = AsyncStream<Int> {
        for await number in opening { return number }
        return calls.withLock {
          $0 += 1
          return $0
        }
      }
      let thread = try EventLoopThread()
      thread.loop.execute {
        func sink() -> Subscribers.Sink<Int, Never> {
          Subscribers.Sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        }
        Future { await answer.first { _ in true } ?? 0 }.subscribe(sink())
        Just(0).mapAsync(limit: 1) { _ in await mapping.first { _ in true } ?? 0 }.subscribe(sink())
        elements.publisher.subscribe(sink())
      }
      await turn(of: thread.loop)
      thread.shutdown()
      open.yield(7)
      open.finish()
      var reports = drops.makeAsyncIterator()
      #expect(await reports.next() == "AsyncElements 7")
      answering.yield(1)
      #expect(await reports.next() == "Future success(1)")
      mapped.yield(2)
      #expect(await reports.next() == "MapAsync 2")
      #expect(calls.withLock { $0 } == 0)
    }
  }

  @Test func `a value on its way to a task is reported when another thread cancels the task`() async {
    await #expect(processExitsWith: .success) {
      var reports = drops().makeAsyncIterator()
      let thread = try EventLoopThread()
      let loop = thread.loop
      let subject = PassthroughSubject<Int, Never>()
      let sender = subject.sender(on: loop)
      let (waiting, isWaiting) = AsyncStream<Void>.makeStream()
      let values = subject.handleEvents(receiveRequest: { _ in isWaiting.yield() }).values(on: loop)
      let task = Task {
        var received: [Int] = []
        for await value in values { received.append(value) }
        return received
      }
      for await _ in waiting { break }
      // The loop is busy while the value is sent and the task is cancelled.
      let (busy, isBusy) = AsyncStream<Void>.makeStream()
      let end = DispatchSemaphore(value: 0)
      loop.execute {
        isBusy.yield()
        end.wait()
      }
      for await _ in busy { break }
      sender.post(5)
      task.cancel()
      end.signal()
      #expect(await task.value == [])
      #expect(await reports.next() == "values 5")
      thread.shutdown()
    }
  }
}
