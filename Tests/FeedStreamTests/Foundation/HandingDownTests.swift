import Dispatch
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// Streams that are subscribed to while another stream's subscription, or its first value, arrives on a queue.
@Suite("Subscribing while a subscription arrives", .settled) struct HandingDownTests {
  /// Subscribes on a thread without a loop, and returns the number of values delivered by the time the stream finishes.
  private func count<P: Publisher & SendableMetatype>(_ make: @escaping @Sendable () -> P) async -> Int
  where P.Failure == Never {
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        let finished = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var count = 0
        let subscription = make().sink { _ in
          finished.signal()
        } receiveValue: { _ in
          count += 1
        }
        withExtendedLifetime(subscription) { finished.wait() }
        continuation.resume(returning: count)
      }
    }
  }

  @Test func `cancelling a stream that handleEvents began leaves the outer stream alone`() async {
    let queue = DispatchQueue(label: "queue")
    let values = Mutex(0)
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let inner = Locked<AnyCancellable?>(nil)
        let (numbers, other) = (PassthroughSubject<Int, Never>(), CurrentValueSubject<Int, Never>(0))
        let outer = numbers.receive(on: queue)
          .handleEvents(receiveSubscription: { _ in
            nonisolated(unsafe) let began = other.sink { _ in }
            inner.withLock { $0 = began }
          })
          .sink { _ in values.withLock { $0 += 1 } }
        numbers.send(1)
        queue.sync {}
        inner.withLock { $0 }?.cancel()
        numbers.send(2)
        queue.sync {}
        outer.cancel()
        continuation.resume()
      }
    }
    #expect(values.withLock { $0 } == 2)
  }

  @Test func `cancelling a stream that a subscriber began leaves the subscriber's stream alone`() async {
    final class Beginner: Subscriber {
      let inner: AnyPublisher<Int, Never>
      let began = Locked<AnyCancellable?>(nil)
      let values = Mutex(0)
      init(_ inner: AnyPublisher<Int, Never>) { self.inner = inner }
      func receive(subscription: any Subscription) {
        nonisolated(unsafe) let sink = inner.sink { _ in }
        began.withLock { $0 = sink }
        subscription.request(.unlimited)
      }
      func receive(_ input: Int) -> Subscribers.Demand {
        values.withLock { $0 += 1 }
        return .none
      }
      func receive(completion: Subscribers.Completion<Never>) {}
    }
    let queue = DispatchQueue(label: "queue")
    let count = await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        let (numbers, other) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        let beginner = Beginner(other.eraseToAnyPublisher())
        numbers.receive(on: queue).subscribe(beginner)
        numbers.send(1)
        queue.sync {}
        beginner.began.withLock { $0 }?.cancel()
        numbers.send(2)
        queue.sync {}
        continuation.resume(returning: beginner.values.withLock { $0 })
      }
    }
    #expect(count == 2)
  }

  @Test func `cancelling the first window's sink leaves the other windows alone`() async {
    let (above, queue) = (DispatchQueue(label: "above"), DispatchQueue(label: "timer"))
    let trigger = Locked<PassthroughSubject<Void, Never>?>(nil)
    let sinks = Locked<[AnyCancellable]>([])
    let values = Mutex<[Int]>([])
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        let (numbers, ends) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
        trigger.withLock { $0 = ends }
        let outer = numbers.receive(on: above).window(on: ends.receive(on: queue)).sink { window in
          nonisolated(unsafe) let sink = window.sink { value in values.withLock { $0.append(value) } }
          sinks.withLock { $0.append(sink) }
        }
        numbers.send(1)
        above.sync {}
        sinks.withLock { $0.first }?.cancel()
        ends.send()
        while sinks.withLock({ $0.count }) < 2 { usleep(100) }
        numbers.send(2)
        while values.withLock({ $0.count }) < 2 { usleep(100) }
        outer.cancel()
        continuation.resume()
      }
    }
    #expect(values.withLock { $0 } == [1, 2])
  }

  @Test func `tasks, shares and parallel work take the values of the first window`() async {
    let (queue, timer) = (DispatchQueue(label: "queue"), DispatchQueue(label: "timer"))
    @Sendable func windows() -> some Publisher<AnyPublisher<Int, Never>, Never> {
      (0..<60).publisher.receive(on: queue).window(for: .milliseconds(1), scheduler: timer)
    }
    #expect(await count { windows().flatMap { $0.mapAsync(limit: 3) { $0 } } } == 60)
    #expect(await count { windows().flatMap { $0.share() } } == 60)
    #expect(await count { windows().flatMap { $0.retry(when: { $0 }) } } == 60)
  }

  @Test func `a subject on the thread that subscribes triggers operators below a queue`() async {
    let queue = DispatchQueue(label: "queue")
    let makers: [(AnyPublisher<Int, Never>, PassthroughSubject<Void, Never>) -> AnyPublisher<Int, Never>] = [
      { $0.sample(on: $1).eraseToAnyPublisher() }, { $0.buffer(on: $1).map { $0[0] }.eraseToAnyPublisher() },
      { $0.window(on: $1).flatMap { $0 }.eraseToAnyPublisher() },
    ]
    for (index, make) in makers.enumerated() {
      nonisolated(unsafe) let make = make
      let values = await withUnsafeContinuation { continuation in
        Thread.detachNewThread {
          let values = Mutex<[Int]>([])
          let (numbers, trigger) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
          let sink = make(numbers.receive(on: queue).eraseToAnyPublisher(), trigger)
            .sink { new in values.withLock { $0.append(new) } }
          for number in 1...3 {
            numbers.send(number)
            trigger.send()
            queue.sync {}
          }
          sink.cancel()
          continuation.resume(returning: values.withLock { $0 })
        }
      }
      #expect(values == [1, 2, 3], "operator \(index)")
    }
  }

  /// A publisher that delivers its subscription when asked to, and counts cancellations.
  private final class Late: Publisher, Subscription {
    typealias Output = Int
    typealias Failure = Never

    private(set) var cancellations = 0
    private var subscriber: AnySubscriber<Int, Never>?
    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      self.subscriber = AnySubscriber(subscriber)
    }
    func begin() { subscriber?.receive(subscription: self) }
    func request(_ demand: Subscribers.Demand) {}
    func cancel() { cancellations += 1 }
  }

  @Test func `a trigger that completes before upstream's subscription arrives ends the stream`() {
    let makers: [(Late) -> AnyPublisher<Void, Never>] = [
      { $0.sample(on: Just(0)).map { _ in }.eraseToAnyPublisher() },
      { $0.buffer(on: Just(0)).map { _ in }.eraseToAnyPublisher() },
      { $0.window(on: Just(0)).map { _ in }.eraseToAnyPublisher() },
    ]
    for (index, make) in makers.enumerated() {
      let late = Late()
      var completions = 0
      let sink = make(late).sink { _ in
        completions += 1
      } receiveValue: { _ in
      }
      late.begin()
      #expect(late.cancellations == 1 && completions == 1, "operator \(index)")
      sink.cancel()
    }
  }
}
