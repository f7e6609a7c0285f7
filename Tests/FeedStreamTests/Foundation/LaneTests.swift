import Dispatch
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// Streams without a loop, in which threads take turns, and streams whose values leave a loop.
@Suite("Threads that take turns", .settled) struct LaneTests {
  private struct Refused: Error {}

  @Test func `operators that subscribe within a task's stream deliver each value once`() async {
    for round in 0..<40 {
      nonisolated(unsafe) var subscription: AnyCancellable?
      let values = await withUnsafeContinuation { continuation in
        let tasks = (0..<300).publisher.mapAsync(limit: 300) { $0 }
        let stream =
          round % 2 == 0
          ? tasks.append(300).eraseToAnyPublisher() : tasks.switchIfEmpty(Just(-1)).append(300).eraseToAnyPublisher()
        subscription = stream.collect().sink { continuation.resume(returning: $0) }
      }
      #expect(values == Array(0...300))
      withExtendedLifetime(subscription) {}
    }
  }

  @Test func `a task's stream follows the result of a fulfilled future`() async {
    let streams: [(Future<Int, Never>) -> AnyPublisher<Int, Never>] = [
      { $0.flatMap { _ in (0..<9).publisher.mapAsync(limit: 1) { $0 } }.eraseToAnyPublisher() },
      { $0.map { _ in (0..<9).publisher.mapAsync(limit: 1) { $0 } }.switchToLatest().eraseToAnyPublisher() },
      { $0.filter { _ in false }.append((0..<9).publisher.mapAsync(limit: 1) { $0 }).eraseToAnyPublisher() },
      {
        $0.mapAsync(limit: 1) { $0 }.flatMap { _ in (0..<9).publisher.mapAsync(limit: 1) { $0 } }.eraseToAnyPublisher()
      },
      {
        $0.tryMap { _ in throw Refused() }.catch { _ in (0..<9).publisher.mapAsync(limit: 1) { $0 } }
          .eraseToAnyPublisher()
      },
    ]
    for (index, stream) in streams.enumerated() {
      nonisolated(unsafe) let stream = stream
      let values = await withUnsafeContinuation { continuation in
        // A thread without a task, as in a program without concurrency.
        Thread.detachNewThread {
          let values = Mutex<[Int]?>(nil)
          let subscription = stream(Future { $0(.success(1)) }).collect().sink { new in values.withLock { $0 = new } }
          while values.withLock({ $0 }) == nil { usleep(100) }
          withExtendedLifetime(subscription) {}
          continuation.resume(returning: values.withLock { $0 })
        }
      }
      #expect(values == Array(0..<9), "stream \(index)")
    }
  }

  @Test func `a loop runs until the futures that tasks fulfill have reached a queue`() async {
    for _ in 0..<20 {
      let (count, isFinished): (Int, Bool) = await withUnsafeContinuation { continuation in
        Thread.detachNewThread {
          let loop = EventLoop()
          let received = Mutex((count: 0, isFinished: false))
          let subscription = (0..<100).publisher.receive(on: DispatchQueue(label: "above"))
            .flatMap(maxPublishers: .max(1)) { number in Future { () async -> Int in number } }
            .sink { _ in
              received.withLock { $0.isFinished = true }
            } receiveValue: { _ in
              received.withLock { $0.count += 1 }
            }
          loop.run()
          withExtendedLifetime(subscription) {}
          continuation.resume(returning: received.withLock { $0 })
          loop.close()
        }
      }
      #expect(count == 100 && isFinished)
    }
  }

  @Test func `a stream that is retried on another queue can be cancelled where it was subscribed`() async {
    let (home, queue) = (DispatchQueue(label: "home"), DispatchQueue(label: "queue"))
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        let done = DispatchSemaphore(value: 0)
        for round in 0..<2_000 {
          nonisolated(unsafe) var subscription: AnyCancellable?
          home.async {
            let attempts = Mutex(0)
            subscription = Just((0..<3).publisher.receive(on: queue)).switchToLatest()
              .tryMap { number in
                let attempt = attempts.withLock {
                  $0 += 1
                  return $0
                }
                if attempt < 3 { throw Refused() }
                return number
              }
              .retry(3).replaceError(with: 0).sink { _ in }
            done.signal()
          }
          done.wait()
          usleep(UInt32(round % 60))
          home.async {
            subscription?.cancel()
            done.signal()
          }
          done.wait()
        }
        continuation.resume()
      }
    }
  }

  /// Delivers a value on another thread, and counts its cancellations.
  private final class Source: Publisher, Subscription, @unchecked Sendable {
    typealias Output = Int
    typealias Failure = Never

    let cancellations = Mutex(0)
    private var subscriber: AnySubscriber<Int, Never>?

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      self.subscriber = AnySubscriber(subscriber)
      subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) {}
    func cancel() { cancellations.withLock { $0 += 1 } }

    func deliverElsewhere() {
      let delivered = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        _ = self.subscriber?.receive(1)
        delivered.signal()
      }
      delivered.wait()
    }
  }

  @Test func `a cancellation on a queue reaches upstream after the loop has been released with waiting values`() async {
    let source = Source()
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        nonisolated(unsafe) var subscription: AnyCancellable?
        do {
          let loop = EventLoop()
          subscription = source.merge(with: Empty(completeImmediately: false))
            .receive(on: DispatchQueue(label: "below")).sink { _ in }
          source.deliverElsewhere()
          withExtendedLifetime(loop) {}
        }
        subscription?.cancel()
        continuation.resume()
      }
    }
    for _ in 0..<1_000 where source.cancellations.withLock({ $0 }) == 0 { try? await Task.sleep(for: .milliseconds(5)) }
    #expect(source.cancellations.withLock { $0 } == 1)
  }

  @Test func `a future made on a loop delivers to streams on a queue`() async {
    for _ in 0..<10 {
      let (count, isFinished): (Int, Bool) = await withUnsafeContinuation { continuation in
        Thread.detachNewThread {
          let loop = EventLoop()
          let received = Mutex((count: 0, isFinished: false))
          let token = Future<Int, Never> { promise in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { promise(.success(7)) }
          }
          let subscription = (0..<300).publisher.receive(on: DispatchQueue(label: "above")).flatMap { _ in token }
            .sink { _ in
              received.withLock { $0.isFinished = true }
            } receiveValue: { value in
              received.withLock { $0.count += value }
            }
          loop.run()
          withExtendedLifetime(subscription) {}
          continuation.resume(returning: received.withLock { $0 })
          loop.close()
        }
      }
      #expect(count == 2_100 && isFinished)
    }
  }

  @Test func `a loop runs until what follows its future on a queue has ended`() async {
    for _ in 0..<40 {
      let isFinished = await withUnsafeContinuation { continuation in
        Thread.detachNewThread {
          let loop = EventLoop()
          let isFinished = Mutex(false)
          let token = Future<Int, Never> { promise in DispatchQueue.global().async { promise(.success(1)) } }
          let numbers = (0..<12).publisher.receive(on: DispatchQueue(label: "numbers"))
          let subscription = Just(token.flatMapFirst { _ in numbers }).receive(on: DispatchQueue(label: "above"))
            .switchToLatest().sink { _ in
              isFinished.withLock { $0 = true }
            } receiveValue: { _ in
            }
          loop.run()
          continuation.resume(returning: isFinished.withLock { $0 })
          withExtendedLifetime(subscription) {}
          loop.close()
        }
      }
      #expect(isFinished)
    }
  }

  @Test func `expand may be cancelled while its publishers deliver on a queue`() async {
    for round in 0..<300 {
      let subscription = Just("a").expand { text in
        (0..<200).publisher.map { "\(text) \($0)" }.receive(on: DispatchQueue.global())
      }
      .sink { _ in }
      try? await Task.sleep(for: .microseconds(round % 50))
      subscription.cancel()
    }
  }

  @Test func `a stream that was made within a delivery on a queue can be cancelled on another thread`() async {
    final class Target { var value = 0 }
    nonisolated(unsafe) var outer: AnyCancellable?
    let cancellations = Mutex(0)
    let made = await withUnsafeContinuation { continuation in
      outer = Just(1).receive(on: DispatchQueue(label: "above")).sink { _ in
        let quiet = Empty<Int, Never>(completeImmediately: false)
        let numbers = PassthroughSubject<Int, Never>()
        let counted = numbers.handleEvents(receiveCancel: { cancellations.withLock { $0 += 1 } })
        nonisolated(unsafe) let subscriptions = [
          quiet.merge(with: quiet).sink { _ in }, quiet.append(1).sink { _ in },
          quiet.mapAsync(limit: 1) { $0 }.sink { _ in }, quiet.scan(0, +).sink { _ in },
          counted.tryMap { $0 }.sink(receiveCompletion: { _ in }, receiveValue: { _ in }),
          counted.removeDuplicates().assign(to: \.value, on: Target()), counted.share().sink { _ in },
        ]
        continuation.resume(returning: Locked(subscriptions))
      }
    }
    withExtendedLifetime(outer) {}
    for subscription in made.withLock({ $0 }) { subscription.cancel() }
    for _ in 0..<1_000 where cancellations.withLock({ $0 }) < 3 { try? await Task.sleep(for: .milliseconds(1)) }
    #expect(cancellations.withLock { $0 } == 3)
  }

  @Test func `a group that a queue has subscribed to can be cancelled there while its values arrive elsewhere`() async {
    final class Target { var value = 0 }
    for round in 0..<200 {
      let queue = DispatchQueue(label: "queue")
      let kept = Locked<[AnyCancellable]>([])
      nonisolated(unsafe) var subscription: AnyCancellable?
      await withUnsafeContinuation { continuation in
        subscription = (0..<40).publisher.mapAsync(limit: 2) { $0 }.groupBy { $0 % 4 }.receive(on: queue).sink { _ in
          continuation.resume()
        } receiveValue: { group in
          nonisolated(unsafe) let assigned = group.assign(to: \.value, on: Target())
          kept.withLock { $0.append(assigned) }
          queue.asyncAfter(deadline: .now() + .microseconds(round % 40 * 10)) { assigned.cancel() }
        }
      }
      withExtendedLifetime((subscription, kept)) {}
    }
  }

  @Test(.timeLimit(.minutes(5)))
  func `windows on a queue that take longer than their interval don't hold up the values`() async {
    nonisolated(unsafe) var subscription: AnyCancellable?
    let count = await withUnsafeContinuation { continuation in
      let count = Mutex(0)
      subscription = (0..<60).publisher
        .concatMap { Just($0).delay(for: .milliseconds(2), scheduler: DispatchQueue(label: "source")) }
        .receive(on: DispatchQueue(label: "above")).window(
          for: .milliseconds(1), scheduler: DispatchQueue(label: "time")
        )
        .handleEvents(receiveOutput: { _ in usleep(2_000) })
        .flatMap { $0.receive(on: DispatchQueue(label: "below")) }
        .sink { _ in
          continuation.resume(returning: count.withLock { $0 })
        } receiveValue: { _ in
          count.withLock { $0 += 1 }
        }
    }
    #expect(count == 60)
    withExtendedLifetime(subscription) {}
  }

  @Test func `a sink that is cancelled while its subscription arrives on another thread cancels it`() async {
    for round in 0..<300 {
      let source = Source()
      let subscription = source.subscribe(on: DispatchQueue.global()).sink { _ in }
      if round % 3 > 0 { usleep(UInt32(round % 40)) }
      subscription.cancel()
      for _ in 0..<1_000 where source.cancellations.withLock({ $0 }) == 0 {
        try? await Task.sleep(for: .milliseconds(1))
      }
      #expect(source.cancellations.withLock { $0 } == 1)
    }
  }
}
