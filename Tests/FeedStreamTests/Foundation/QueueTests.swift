import Dispatch
import FeedStream
import Foundation
import TestSupport
import Testing

@Suite("Dispatch and operation queues as schedulers", .settled) struct QueueTests {
  /// Delivers three ticks and then a delayed value on `scheduler`; returns true if all of them arrived there.
  private func ticks<S: Scheduler>(_ scheduler: S, isThere: @escaping @Sendable () -> Bool) async -> [Int] {
    await withCheckedContinuation { continuation in
      scheduler.schedule {
        var received: [Int] = []
        var subscription: AnyCancellable?
        subscription = Interval(every: .milliseconds(1), scheduler: scheduler)
          .prefix(3)
          .delay(for: .milliseconds(1), scheduler: scheduler)
          .receive(on: scheduler)
          .sink(
            receiveCompletion: { _ in
              continuation.resume(returning: received)
              subscription = nil
            }, receiveValue: { received.append(isThere() ? $0 : -1) })
        _ = subscription
      }
    }
  }

  @Test func `a dispatch queue runs a stream's timers and delivers on the queue`() async {
    let queue = DispatchQueue(label: "queue tests")
    let key = DispatchSpecificKey<Bool>()
    queue.setSpecific(key: key, value: true)
    #expect(await ticks(queue) { DispatchQueue.getSpecific(key: key) == true } == [0, 1, 2])
  }

  @Test(.timeLimit(.minutes(5))) func `a queue's timer releases its work when it is cancelled, also while it fires`()
    async
  {
    let queue = DispatchQueue(label: "queue tests", attributes: .concurrent)
    let releases = AsyncStream<Void>.makeStream()
    final class Token: Sendable {
      let released: @Sendable () -> Void
      init(_ released: @escaping @Sendable () -> Void) { self.released = released }
      deinit { released() }
    }
    let count = 200
    for number in 0..<count {
      let token = Token { releases.continuation.yield() }
      let timer = queue.schedule(
        after: queue.now, interval: .microseconds(10), tolerance: .zero, options: nil
      ) { withExtendedLifetime(token) {} }
      if number.isMultiple(of: 2) { usleep(50) }
      timer.cancel()
      timer.cancel()
    }
    var releasesSeen = 0
    for await _ in releases.stream {
      releasesSeen += 1
      if releasesSeen == count { break }
    }
    #expect(releasesSeen == count)
  }

  @Test func `an operation queue runs a stream's timers and delivers on the queue`() async {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    #expect(await ticks(queue) { OperationQueue.current === queue } == [0, 1, 2])
  }

  @Test func `timers add one operation at a time to a queue that doesn't run`() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let subject = PassthroughSubject<Int, Never>()
    let debounced = subject.debounce(for: 0, scheduler: queue).sink { _ in }
    let repetition = queue.schedule(after: queue.now, interval: .milliseconds(1), tolerance: 0, options: nil) {}
    subject.send(1)
    for _ in 0..<2_000 where queue.operationCount == 0 { usleep(5_000) }
    usleep(50_000)
    #expect((1..<10).contains(queue.operationCount))
    debounced.cancel()
    repetition.cancel()
    queue.cancelAllOperations()
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test func `repeating work at an interval of zero or less traps`() async {
    let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = DispatchQueue.main.schedule(after: DispatchQueue.main.now, interval: -1) {}
    }
    #expect(queue?.says("DispatchQueue.schedule: the interval is -1.0 seconds; use more than zero") == true)
    let operations = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = OperationQueue.main.schedule(after: OperationQueue.main.now, interval: 0) {}
    }
    #expect(operations?.says("OperationQueue.schedule: the interval is 0.0; use more than zero") == true)
  }

  @Test func `distances of a queue's time are distances of stream time`() {
    let start = DispatchQueue.SchedulerTimeType(DispatchTime(uptimeNanoseconds: 1_000))
    let later = start.advanced(by: .seconds(2))
    #expect(start.distance(to: later) == .seconds(2))
    #expect(later.distance(to: start) == .seconds(-2))
    #expect(start < later)
  }
}
