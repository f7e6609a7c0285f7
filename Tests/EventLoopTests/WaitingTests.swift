import Foundation
import Synchronization
import Testing

@testable import FeedStream

@Suite("Asynchronous work of a stream keeps its loop running", .settled) struct WaitingTests {
  struct Boom: Error {}

  /// Calls `subscribe`, and then runs the loop until it is idle.
  private func entries<T: Sendable>(
    _ subscribe: @escaping @Sendable (EventLoop, Log<T>) -> any Cancellable
  ) async -> [T] {
    await onThread {
      withLoop { loop in
        let log = Log<T>()
        let subscription = subscribe(loop, log)
        loop.run()
        subscription.cancel()
        return log.entries
      }
    }
  }

  /// A loop for which other code keeps only the entrance.
  // @unchecked: used on one thread.
  private final class ReferredLoop: StreamDomain, @unchecked Sendable {
    final class Entrance: StreamDomain, @unchecked Sendable {
      var hasLetGo: () -> Void = {}
      let isHere = false
      func bring(_ action: @escaping @Sendable () -> Void) {}
      func letGo(_ place: HoldingPlace) { hasLetGo() }
    }

    let entrance = Entrance()
    let isHere = false
    var reference: any StreamDomain { entrance }
    func bring(_ action: @escaping @Sendable () -> Void) {}
    func letGo(_ place: HoldingPlace) { entrance.letGo(place) }
  }

  /// A loop may return, and be released, as soon as the value has arrived. The value's thread must not release it.
  @Test func `the arrival of a value that was sent before the loop was made doesn't retain the loop`() async {
    let isReleased = await onThread {
      var (loop, wasReleased): (ReferredLoop?, Bool) = (ReferredLoop(), false)
      weak var released: ReferredLoop?
      released = loop
      let holds = EarlyHolds.ofCallingCode
      holds?.hold(.queue)
      EarlyHolds.adopt(by: loop!)
      loop?.entrance.hasLetGo = {
        loop = nil
        wasReleased = released == nil
      }
      holds?.letGo(.queue)
      return wasReleased
    }
    #expect(isReleased)
  }

  @Test func `a loop delivers all elements of an async sequence before it ends`() async {
    let (elements, source) = AsyncStream<Int>.makeStream()
    Foundation.Thread.detachNewThread {
      for number in 1...3 {
        stall(milliseconds: 1)
        source.yield(number)
      }
      source.finish()
    }
    #expect(await entries { loop, log in elements.publisher.sink { log.note(loop.isCurrent ? $0 : -1) } } == [1, 2, 3])
  }

  @Test func `a loop waits for a task that starts to iterate values late`() async {
    let sum = await withCheckedContinuation { (continuation: CheckedContinuation<Int, Never>) in
      Foundation.Thread.detachNewThread {
        withLoop { loop in
          let values = [1, 2, 3].publisher.values
          let mayBegin = Mutex(false)
          Foundation.Thread.detachNewThread {
            // Stall until long after the loop has nothing else to do.
            stall(milliseconds: 50)
            mayBegin.withLock { $0 = true }
          }
          Task {
            while !mayBegin.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(1)) }
            var sum = 0
            for await number in values { sum += number }
            continuation.resume(returning: sum)
          }
          loop.run()
        }
      }
    }
    #expect(sum == 6)
  }

  @Test func `a loop ends despite released values and values with keepsLoopAlive(false)`() async {
    await onThread {
      withLoop { loop in
        var values: AsyncPublisher<Publishers.Sequence<[Int], Never>>? = [1, 2].publisher.values
        loop.schedule { values = nil }
        let kept = [1, 2].publisher.keepsLoopAlive(false).values
        loop.run()
        #expect(values == nil)
        withExtendedLifetime(kept) {}
      }
    }
  }

  @Test(arguments: [1, 2, 5]) func `a loop waits for the tasks of mapAsync, at every limit`(_ limit: Int) async {
    let doubled = await entries { loop, log in
      [1, 2, 3, 4].publisher
        .mapAsync(limit: limit) { number in
          let pause = Duration.milliseconds(4 - number)
          try? await Task.sleep(for: pause)
          return number * 2
        }
        .sink { log.note(loop.isCurrent ? $0 : -1) }
    }
    #expect(doubled == [2, 4, 6, 8])
  }

  @Test func `a loop waits for the task of a future`() async {
    let answers = await entries { loop, log in
      Future {
        try? await Task.sleep(for: .milliseconds(2))
        return 7
      }
      .sink { log.note(loop.isCurrent ? $0 : -1) }
    }
    #expect(answers == [7])
  }

  @Test func `a loop waits for a promise that another thread fulfills`() async {
    let answers = await entries { loop, log in
      Future<Int, Never> { promise in
        Foundation.Thread.detachNewThread {
          stall(milliseconds: 2)
          promise(.success(7))
          promise(.success(8))
        }
      }
      .sink { log.note(loop.isCurrent ? $0 : -1) }
    }
    #expect(answers == [7])
  }

  @Test func `a loop waits neither for a released promise nor for one without subscribers`() {
    let kept = Mutex<(@Sendable (Result<Int, Never>) -> Void)?>(nil)
    _ = withLoop { loop in
      // Released immediately.
      let forgotten = Future<Int, Never> { _ in }
      let waiting = forgotten.sink { _ in }
      let unheard = Future<Int, Never> { promise in kept.withLock { $0 = promise } }
      loop.run()
      waiting.cancel()
      return unheard
    }
    kept.withLock { $0 = nil }
  }

  @Test func `a loop waits for the sender of a Create until the subscription is cancelled`() async {
    let numbers = await entries { loop, log in
      Create<Int, Never> { emitter in
        let sender = emitter.sender
        Foundation.Thread.detachNewThread {
          stall(milliseconds: 2)
          for number in 0..<5 { sender.send(number) }
          stall(milliseconds: 2)
        }
      }
      .prefix(3)
      .sink { log.note($0) }
    }
    #expect(numbers == [0, 1, 2])
  }

  @Test func `a loop doesn't wait for subscriptions with keepsLoopAlive(false)`() async {
    let (elements, source) = AsyncStream<Int>.makeStream()
    await onThread {
      withLoop { loop in
        let subscriptions = [
          elements.publisher.keepsLoopAlive(false).sink { _ in },
          Just(1).mapAsync(limit: 1) { _ in for await _ in AsyncStream<Int>.makeStream().stream {} }
            .keepsLoopAlive(false).sink { _ in },
        ]
        loop.run()
        for subscription in subscriptions { subscription.cancel() }
      }
    }
    source.finish()
  }

  /// The same publishers, made during the subscription, would be covered.
  @Test func `a loop waits for a publisher that flatMap makes later above keepsLoopAlive(false)`() async {
    let numbers = await entries { (loop: EventLoop, log: Log<Int>) in
      let subject = PassthroughSubject<Int, Never>()
      loop.schedule { subject.send(1) }
      return
        subject
        .flatMap { number in
          Future<Int, Never> {
            try? await Task.sleep(for: .milliseconds(2))
            return number
          }
        }
        .keepsLoopAlive(false)
        .sink { log.note($0) }
    }
    #expect(numbers == [1])
  }

  @Test func `a loop doesn't wait for a publisher in flatMap that has its own keepsLoopAlive(false)`() {
    let kept = Mutex<[@Sendable (Result<Int, Never>) -> Void]>([])
    withLoop { loop in
      let subject = PassthroughSubject<Int, Never>()
      let waiting =
        subject
        .flatMap { _ in
          Deferred { Future<Int, Never> { promise in kept.withLock { $0.append(promise) } } }.keepsLoopAlive(false)
        }
        .sink { _ in }
      subject.send(1)
      loop.run()
      waiting.cancel()
    }
    #expect(kept.withLock { $0.count } == 1)
    kept.withLock { $0 = [] }
  }

  @Test func `a loop waits for what code below keepsLoopAlive(false) and receive(on:) starts`() async {
    let numbers = await entries { (loop: EventLoop, log: Log<Int>) in
      CurrentValueSubject<Int, Never>(1)
        .keepsLoopAlive(false)
        .receive(on: loop)
        .flatMap { number in
          Future<Int, Never> {
            try? await Task.sleep(for: .milliseconds(2))
            return number
          }
        }
        .sink { log.note($0) }
    }
    #expect(numbers == [1])
  }

  @Test func `a future keeps its typed error, and releasing a future cancels its task`() async {
    let future = Future { () async throws(Boom) -> Int in throw Boom() }
    // This compiles, because the type is preserved.
    let typed: Future<Int, Boom> = future
    await #expect(throws: Boom.self) { try await typed.value }

    let (ends, end) = AsyncStream<Bool>.makeStream()
    var endless: Future<Void, Never>? = Future {
      for await _ in AsyncStream<Int>.makeStream().stream {}
      end.yield(Task.isCancelled)
    }
    withExtendedLifetime(endless) {}
    endless = nil
    for await wasCancelled in ends {
      #expect(wasCancelled)
      break
    }
  }

  @Test func `without a loop, mapAsync delivers one result at a time, at every limit`() async {
    let busy = Mutex(false)
    let values = (0..<200).publisher
      .mapAsync(limit: 8, order: .asCompleted) { number in
        await Task.yield()
        return number
      }
      .handleEvents(receiveOutput: { _ in
        #expect(
          busy.withLock {
            $0.toggle()
            return $0
          })
        #expect(
          busy.withLock {
            $0.toggle()
            return !$0
          })
      })
      .values
    var sum = 0
    for await value in values { sum += value }
    #expect(sum == 199 * 100)
  }

  @Test func `closing the loop ends tasks of its streams`() async throws {
    let thread = try EventLoopThread()
    let (gate, opening) = AsyncStream<Void>.makeStream()
    let (ends, end) = AsyncStream<Void>.makeStream()
    thread.loop.execute {
      // This stream retains itself until the task has ended.
      Just(1)
        .mapAsync(limit: 1) { _ in
          for await _ in gate { break }
          end.yield()
        }
        .subscribe(
          Subscribers.Sink<Void, Never>(receiveCompletion: { _ in }) { Issue.record("a closed loop delivered") })
    }
    await withCheckedContinuation { continuation in thread.loop.execute { continuation.resume() } }
    thread.shutdown()
    opening.yield()
    for await _ in ends { break }
  }
}
