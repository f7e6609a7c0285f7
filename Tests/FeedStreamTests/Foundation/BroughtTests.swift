import Dispatch
import FeedStream
import Foundation
import TestSupport
import Testing

/// Further code that users bring from Combine: sharing, pauses, and custom schedulers.
@Suite("Streams that use queues and custom schedulers", .settled) struct BroughtTests {
  private struct Broken: Error {}

  /// Runs `body` with a loop on its own thread, and then the loop until it is idle.
  private func onLoop(_ body: @escaping @Sendable () -> AnyCancellable) async {
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let loop = EventLoop()
        let subscription = body()
        loop.run()
        subscription.cancel()
        loop.close()
        done.resume()
      }
    }
  }

  @Test func `a loop keeps running while a queue times a pause`() async {
    let seen = Journal<String>()
    let queue = DispatchQueue(label: "pauses", attributes: .concurrent)
    await onLoop {
      let delayed = Just(1).delaySubscription(for: .milliseconds(5), scheduler: queue).sink {
        seen.note("delayed \($0)")
      }
      let repeated = Just(2).repeat(2, after: .milliseconds(5), scheduler: queue).sink { seen.note("repeated \($0)") }
      let policy = RetryPolicy(limit: 2, firstPause: .milliseconds(2), factor: 1, cap: .milliseconds(2), jitter: 0)
      let retried = Fail<Int, Broken>(error: Broken()).retry(policy, scheduler: queue)
        .sink {
          if case .failure = $0 { seen.note("failed") }
        } receiveValue: { _ in
        }
      return AnyCancellable { for subscription in [delayed, repeated, retried] { subscription.cancel() } }
    }
    #expect(seen.entries.sorted() == ["delayed 1", "failed", "repeated 2", "repeated 2"])
  }

  @Test func `a loop doesn't wait for a cancelled pause`() async {
    let queue = DispatchQueue(label: "pauses")
    await onLoop {
      Just(1).delaySubscription(for: .seconds(3_600), scheduler: queue).sink { _ in }.cancel()
      return AnyCancellable {}
    }
  }

  @Test func `values from a queue pass through mapAsync and parallelMap to another queue`() async throws {
    let seen = Journal<Int>()
    let group = try EventLoopGroup(count: 2)
    let parallel = Journal<Int>()
    await onLoop {
      let numbers = (0..<500).publisher.receive(on: DispatchQueue.global())
      let tasks = numbers.mapAsync(limit: 4) { $0 * 2 }.receive(on: DispatchQueue(label: "after")).sink {
        seen.note($0)
      }
      let loops = numbers.parallelMap(on: group) { $0 * 2 }.receive(on: DispatchQueue(label: "after")).sink {
        parallel.note($0)
      }
      return AnyCancellable {
        tasks.cancel()
        loops.cancel()
      }
    }
    group.shutdown()
    #expect(seen.entries == (0..<500).map { $0 * 2 })
    #expect(parallel.entries == (0..<500).map { $0 * 2 })
  }

  @Test func `share brings values from a queue to the loop`() async {
    let seen = Journal<Int>()
    await onLoop {
      let shared = (0..<100).publisher.receive(on: DispatchQueue.global()).share()
      let first = shared.sink { seen.note($0) }
      let second = shared.receive(on: DispatchQueue(label: "another")).sink { seen.note($0) }
      return AnyCancellable {
        first.cancel()
        second.cancel()
      }
    }
    #expect(seen.entries.sorted() == (0..<100).flatMap { [$0, $0] })
  }

  @Test func `without a loop, share of a queue's values traps with an explanation`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          _ = (0..<10).publisher.receive(on: DispatchQueue(label: "mine")).share().sink { _ in }
        }
      }
    }
    #expect(result?.says("delivers on the queue \"mine\", and the stream itself has no event loop") == true)
  }

  @Test func `sending to a ReplaySubject on two threads traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
        nonisolated(unsafe) let subject = ReplaySubject<Int, Never>(count: 2)
        for _ in 0..<2 { Thread.detachNewThread { while true { subject.send(1) } } }
      }
    }
    #expect(result?.says("ReplaySubject: touched on a different thread than before") == true)
  }

  @Test func `a loop waits for a promise of a non-Sendable value, which any thread may fulfill`() async {
    final class Page { let number = 1 }
    let seen = Journal<Int>()
    await onLoop {
      Future<Page, Never> { promise in
        Thread.detachNewThread {
          usleep(10_000)
          promise(.success(Page()))
        }
      }
      .sink { seen.note($0.number) }
    }
    #expect(seen.entries == [1])
  }

  @Test func `values of a concurrent queue's stream can be iterated`() async {
    let queue = DispatchQueue(label: "values", attributes: .concurrent)
    var sum = 0
    for await value in (1...1_000).publisher.receive(on: queue).values { sum += value }
    #expect(sum == 500_500)
  }

  @Test func `values of a publisher with its own threads are delayed on a queue without loss`() async {
    let queue = DispatchQueue(label: "time")
    let received = await withUnsafeContinuation { (continuation: UnsafeContinuation<[Int], Never>) in
      Thread.detachNewThread {
        let arrived = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var all: [Int] = []
        let kept = Raw(count: 200).delay(for: .milliseconds(2), scheduler: queue).sink { _ in
          arrived.signal()
        } receiveValue: {
          all.append($0)
        }
        withExtendedLifetime(kept) { arrived.wait() }
        continuation.resume(returning: all)
      }
    }
    #expect(received == Array(0..<200))
  }

  /// Delivers numbers on its own thread, as a publisher around a network library may.
  private struct Raw: Publisher {
    let count: Int

    typealias Output = Int
    typealias Failure = Never

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      nonisolated(unsafe) let subscriber = AnySubscriber<Int, Never>(subscriber)
      subscriber.receive(subscription: Subscriptions.empty)
      Thread.detachNewThread { [count] in
        for number in 0..<count { _ = subscriber.receive(number) }
        subscriber.receive(completion: .finished)
      }
    }
  }

  @Test func `receive(on:) a custom scheduler that uses other threads traps with an explanation`() async {
    let received = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await Self.withoutTask { (0..<10).publisher.receive(on: Pool()).sink { _ in } }
    }
    #expect(received?.says("ReceiveOn: touched on a different thread than before") == true)
    #expect(received?.says("can change threads only with a DispatchQueue") == true)
  }

  @Test func `timing operators trap too when a custom scheduler calls them on another thread`() async {
    func expectStop(_ name: String, _ result: ExitTest.Result?, at location: SourceLocation = #_sourceLocation) {
      let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(
        message.contains("\(name): touched on a different thread than before"), "\(message)", sourceLocation: location)
      #expect(message.contains("can change threads only with a DispatchQueue"), "\(message)", sourceLocation: location)
    }
    expectStop(
      "an operator that uses the scheduler Pool",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Self.withoutTask {
          PassthroughSubject<Int, Never>().prepend(1).debounce(for: 0.001, scheduler: Pool()).sink { _ in }
        }
      })
    expectStop(
      "debounce",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Self.withoutTask { Empty<Int, Never>().debounce(for: 0.001, scheduler: Pool()).sink { _ in } }
      })
    expectStop(
      "throttle",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Self.withoutTask {
          (0..<9).publisher.throttle(for: 0.001, scheduler: Pool(), latest: true).sink { _ in }
        }
      })
    expectStop(
      "subscribe(on:)",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Self.withoutTask { Just(1).subscribe(on: Pool()).sink { _ in } }
      })
    expectStop(
      "collect(.byTime)",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Self.withoutTask { (0..<9).publisher.collect(.byTimeOrCount(Pool(), 60, 2)).sink { _ in } }
      })
    expectStop(
      "an operator that uses the scheduler Pool",
      await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await Self.withoutTask { Publishers.Timer(every: 0.001, scheduler: Pool()).autoconnect().sink { _ in } }
      })
  }

  /// Subscribes on its own thread, and never returns.
  private static func withoutTask(_ subscribe: @escaping @Sendable () -> AnyCancellable) async {
    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let subscription = subscribe()
        withExtendedLifetime(subscription) { while true { pause() } }
      }
    }
  }

  /// A custom scheduler like one in a user's program, which runs its work on any thread.
  private struct Pool: Scheduler {
    var now: DispatchQueue.SchedulerTimeType { DispatchQueue.global().now }
    var minimumTolerance: DispatchQueue.SchedulerTimeType.Stride { 0 }

    func schedule(options: Never?, _ action: @escaping () -> Void) {
      nonisolated(unsafe) let action = action
      Thread.detachNewThread { action() }
    }

    func schedule(
      after date: DispatchQueue.SchedulerTimeType, tolerance: DispatchQueue.SchedulerTimeType.Stride, options: Never?,
      _ action: @escaping () -> Void
    ) {
      nonisolated(unsafe) let action = action
      DispatchQueue.global().asyncAfter(deadline: date.dispatchTime) { action() }
    }

    func schedule(
      after date: DispatchQueue.SchedulerTimeType, interval: DispatchQueue.SchedulerTimeType.Stride,
      tolerance: DispatchQueue.SchedulerTimeType.Stride, options: Never?, _ action: @escaping () -> Void
    ) -> any Cancellable {
      schedule(after: date, tolerance: tolerance, options: nil, action)
      return AnyCancellable {}
    }
  }

  // MARK: Custom schedulers, and no loop yet

  /// A scheduler around a queue, which runs its work through `run`.
  fileprivate protocol AroundQueue: Scheduler
  where SchedulerTimeType == DispatchQueue.SchedulerTimeType, SchedulerOptions == DispatchQueue.SchedulerOptions {
    func run(_ action: @escaping () -> Void)
  }

  private struct Erased: AroundQueue {
    static let usesOtherThreads = true
    func run(_ action: @escaping () -> Void) { action() }
  }

  /// Returns to a loop without the stream's knowledge.
  private struct Returning: AroundQueue {
    let loop: EventLoop
    func run(_ action: @escaping () -> Void) {
      nonisolated(unsafe) let action = action
      loop.execute { action() }
    }
  }

  @Test func `a scheduler with usesOtherThreads is treated as a queue`() async {
    let (seen, latest) = (Journal<Int>(), Journal<Int>())
    await onLoop {
      let values = (0..<500).publisher.flatMap { Just($0).receive(on: Erased()) }.sink { seen.note($0) }
      let last = (0..<9).publisher.append(Empty(completeImmediately: false))
        .debounce(for: .milliseconds(5), scheduler: Erased()).first().sink { latest.note($0) }
      return AnyCancellable { for subscription in [values, last] { subscription.cancel() } }
    }
    #expect(seen.entries.sorted() == Array(0..<500))
    #expect(latest.entries == [8])
  }

  @Test func `a loop waits for work on a custom scheduler`() async {
    let seen = Journal<String>()
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let loop = EventLoop()
        let scheduler = Returning(loop: loop)
        var bag: Set<AnyCancellable> = []
        Just("received").receive(on: scheduler).sink { seen.note($0) }.store(in: &bag)
        Just("delayed").delay(for: .milliseconds(5), scheduler: scheduler).sink { seen.note($0) }.store(in: &bag)
        Just("subscribed").subscribe(on: scheduler).sink { seen.note($0) }.store(in: &bag)
        Just("in arrays").throttle(for: .milliseconds(5), scheduler: scheduler, latest: true).sink { seen.note($0) }
          .store(in: &bag)
        loop.run()
        loop.close()
        done.resume()
      }
    }
    #expect(seen.entries.sorted() == ["delayed", "in arrays", "received", "subscribed"])
  }

  @Test(.timeLimit(.minutes(5)))
  func `a loop doesn't wait for cancelled work on a custom scheduler`() async {
    let seen = Journal<String>()
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let loop = EventLoop()
        let scheduler = Returning(loop: loop)
        let values = (0..<2).publisher.append(Empty(completeImmediately: false))
        let subscriptions = [
          values.delay(for: .seconds(3600), scheduler: scheduler).sink { _ in seen.note("delayed") },
          values.throttle(for: .seconds(3600), scheduler: scheduler, latest: true).sink { _ in seen.note("throttled") },
          values.debounce(for: .seconds(3600), scheduler: scheduler).sink { _ in seen.note("debounced") },
          values.timeout(.seconds(3600), scheduler: scheduler).sink { _ in seen.note("timed") },
        ]
        let cancelling = loop.timer(every: .milliseconds(20)).autoconnect().first { _ in seen.entries.count > 2 }
          .sink { _ in for subscription in subscriptions { subscription.cancel() } }
        loop.run()
        cancelling.cancel()
        loop.close()
        done.resume()
      }
    }
    #expect(seen.entries == ["throttled", "timed", "timed"])
  }

  @Test func `a loop waits for streams subscribed on its thread before it was made`() async {
    let seen = Journal<Int>()
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let queue = DispatchQueue(label: "before")
        let subscription = (0..<100).publisher.delay(for: .milliseconds(5), scheduler: queue).sink { seen.note($0) }
        let loop = EventLoop()
        loop.run()
        subscription.cancel()
        loop.close()
        done.resume()
      }
    }
    #expect(seen.entries == Array(0..<100))
  }

  @Test func `a loop waits for promises and tasks of streams subscribed on its thread before it was made`() async {
    let seen = Journal<String>()
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let future = Future<Int, Never> { promise in
          DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { promise(.success(1)) }
        }
        let promised = future.sink { _ in seen.note("promise") }
        let task = Just(2).mapAsync(limit: 1) { number in
          try? await Task.sleep(for: .milliseconds(30))
          return number
        }
        .sink { _ in seen.note("task") }
        let values = [3].publisher.values
        Task.detached {
          try? await Task.sleep(for: .milliseconds(10))
          for await _ in values { seen.note("values") }
        }
        // A future that nobody waits for, and a promise that was released, keep no loop running.
        var kept: [Future<Int, Never>.Promise] = []
        let idle = Future<Int, Never> { kept.append($0) }
        let forgotten = Future<Int, Never> { _ in }.sink { _ in }
        // A thread's second loop waits, too.
        let loops = [EventLoop(), EventLoop()]
        for loop in loops {
          loop.run()
          seen.note("returned")
        }
        for subscription in [promised, task, forgotten] { subscription.cancel() }
        for loop in loops { loop.close() }
        withExtendedLifetime((kept, idle)) {}
        done.resume()
      }
    }
    #expect(seen.entries.prefix(3).sorted() == ["promise", "task", "values"])
    #expect(seen.entries.suffix(2) == ["returned", "returned"])
  }

  @Test func `a timer on a queue ticks for all its subscribers until its connection is cancelled`() async {
    let (serial, concurrent) = (Journal<Int>(), Journal<Int>())
    await onLoop {
      let timer = DispatchQueue(label: "ticks").timer(every: .milliseconds(2))
      let first = timer.sink { _ in serial.note(1) }
      let connection = timer.connect()
      let second = timer.receive(on: DispatchQueue.global()).prefix(2).sink { _ in
        connection.cancel()
      } receiveValue: { _ in
        serial.note(2)
      }
      let third = DispatchQueue.global().timer(every: .milliseconds(1)).autoconnect().prefix(3).sink { _ in
        concurrent.note(3)
      }
      return AnyCancellable { for subscription in [first, second, third] { subscription.cancel() } }
    }
    #expect(serial.entries.filter { $0 == 2 }.count == 2)
    #expect(serial.entries.contains(1))
    #expect(concurrent.entries == [3, 3, 3])
  }

  @Test func `a queue times pauses without a loop`() async {
    let seen = Journal<Int>()
    let queue = DispatchQueue(label: "pauses", attributes: .concurrent)
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let finished = DispatchGroup()
        var bag: Set<AnyCancellable> = []
        for number in 0..<40 {
          finished.enter()
          Just(number).delaySubscription(for: .milliseconds(1), scheduler: queue)
            .repeat(2, after: .milliseconds(1), scheduler: queue)
            .sink { _ in
              finished.leave()
            } receiveValue: {
              seen.note($0)
            }
            .store(in: &bag)
        }
        finished.wait()
        done.resume()
      }
    }
    #expect(seen.entries.sorted() == (0..<40).flatMap { [$0, $0] })
  }
}

extension BroughtTests.AroundQueue {
  var now: SchedulerTimeType { DispatchQueue.global().now }
  var minimumTolerance: SchedulerTimeType.Stride { .zero }
  func schedule(options: SchedulerOptions?, _ action: @escaping () -> Void) {
    DispatchQueue.global().schedule { run(action) }
  }
  func schedule(
    after date: SchedulerTimeType, tolerance: SchedulerTimeType.Stride, options: SchedulerOptions?,
    _ action: @escaping () -> Void
  ) { DispatchQueue.global().schedule(after: date) { run(action) } }
  func schedule(
    after date: SchedulerTimeType, interval: SchedulerTimeType.Stride, tolerance: SchedulerTimeType.Stride,
    options: SchedulerOptions?, _ action: @escaping () -> Void
  ) -> any Cancellable { DispatchQueue.global().schedule(after: date, interval: interval) { run(action) } }
}
