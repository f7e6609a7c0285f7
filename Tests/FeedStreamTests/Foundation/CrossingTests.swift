import Dispatch
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// Streams that users bring from Combine, with queues that run on their own threads.
@Suite("Streams that cross to queues", .settled) struct CrossingTests {
  /// Returns the values of a stream when it has finished.
  private func collected<P: Publisher>(_ make: () -> P) async -> [P.Output]
  where P.Failure == Never, P.Output: Sendable {
    nonisolated(unsafe) var kept: AnyCancellable?
    let values = await withCheckedContinuation { continuation in
      kept = make().collect().receive(on: DispatchQueue(label: "collected"))
        .sink { continuation.resume(returning: $0) }
    }
    withExtendedLifetime(kept) {}
    return values
  }

  @Test func `publishers on a concurrent queue are merged without loss`() async {
    let values = await collected {
      (0..<5_000).publisher.flatMap { Just($0).receive(on: DispatchQueue.global()) }
    }
    #expect(values.sorted() == Array(0..<5_000))
  }

  @Test func `flatMap(maxPublishers:) merges publishers on a concurrent queue without loss`() async {
    let values = await collected {
      (0..<2_000).publisher.flatMap(maxPublishers: .max(3)) { Just($0).receive(on: DispatchQueue.global()) }
    }
    #expect(values.sorted() == Array(0..<2_000))
  }

  @Test func `a stream on a concurrent queue keeps its order, and delivers one value at a time`() async {
    let running = Atomic(0)
    let values = await collected {
      (0..<5_000).publisher.receive(on: DispatchQueue.global())
        .map { value in
          #expect(running.add(1, ordering: .relaxed).newValue == 1)
          running.subtract(1, ordering: .relaxed)
          return value
        }
        .scan(0) { $0 &+ $1 }
    }
    #expect(values.last == 4_999 * 2_500 && values.count == 5_000)
  }

  @Test func `a stream on a concurrent operation queue keeps its order`() async {
    let values = await collected { (0..<1_000).publisher.receive(on: OperationQueue()) }
    #expect(values == Array(0..<1_000))
  }

  @Test func `a delay on a concurrent queue keeps the order`() async {
    let values = await collected {
      (0..<500).publisher.delay(for: .milliseconds(1), scheduler: DispatchQueue.global())
    }
    #expect(values == Array(0..<500))
  }

  @Test func `streams on several queues are merged, zipped and combined without loss`() async {
    let queues = (DispatchQueue(label: "one"), DispatchQueue.global())
    let merged = await collected {
      (0..<1_000).publisher.receive(on: queues.0).merge(with: (1_000..<2_000).publisher.subscribe(on: queues.1))
    }
    #expect(merged.sorted() == Array(0..<2_000))
    let pairs = await collected {
      (0..<1_000).publisher.receive(on: queues.0).zip((0..<1_000).publisher.receive(on: queues.1)) { [$0, $1] }
    }
    #expect(pairs == (0..<1_000).map { [$0, $0] })
    let latest = await collected {
      (0..<1_000).publisher.receive(on: queues.0).combineLatest((0..<1_000).publisher.receive(on: queues.1)) {
        [$0, $1]
      }
    }
    #expect(latest.last == [999, 999])
  }

  @Test func `append, concatMap and switchToLatest work with publishers on queues`() async {
    let queue = DispatchQueue.global()
    let appended = await collected {
      (0..<100).publisher.receive(on: queue).append((100..<200).publisher.receive(on: queue))
    }
    #expect(appended == Array(0..<200))
    let mapped = await collected {
      (0..<100).publisher.receive(on: queue).concatMap { Just($0).receive(on: queue) }
    }
    #expect(mapped == Array(0..<100))
    let latest = await collected { (0..<100).publisher.map { Just($0).receive(on: queue) }.switchToLatest() }
    #expect(latest.last == 99)
  }

  @Test func `subscribe(on:) a queue subscribes and delivers on it`() async {
    let key = DispatchSpecificKey<Bool>()
    let queue = DispatchQueue(label: "subscribing")
    queue.setSpecific(key: key, value: true)
    let values = await collected {
      Deferred { Just(DispatchQueue.getSpecific(key: key) == true) }
        .subscribe(on: queue).map { [$0, DispatchQueue.getSpecific(key: key) == true] }
    }
    #expect(values == [[true, true]])
  }

  @Test func `values sent on one thread are delivered on a queue, however late they are requested`() async {
    let subject = PassthroughSubject<Int, Never>()
    let arrays: [[Int]] = await withCheckedContinuation { continuation in
      let subscription = subject.prefix(1_000).receive(on: DispatchQueue.global()).collect(7)
        .receive(on: DispatchQueue(label: "arrays")).collect()
        .sink { continuation.resume(returning: $0) }
      for number in 0..<1_200 { subject.send(number) }
      nonisolated(unsafe) let kept = subscription
      DispatchQueue.global().asyncAfter(deadline: .now() + 60) { kept.cancel() }
    }
    #expect(arrays.flatMap { $0 } == Array(0..<1_000))
  }

  @Test func `a stream that a queue delivers can be cancelled on another thread`() {
    for _ in 0..<200 {
      let subscription = (0..<200).publisher.receive(on: DispatchQueue.global()).scan(0, +).map { "\($0)" }.sink { _ in
      }
      subscription.cancel()
    }
  }

  @Test func `debounce and throttle work on a concurrent queue`() async {
    for makesThrottle in [false, true] {
      let subject = PassthroughSubject<Int, Never>()
      let last: Int = await withCheckedContinuation { continuation in
        let queue = DispatchQueue.global()
        let timed =
          makesThrottle
          ? subject.throttle(for: .milliseconds(2), scheduler: queue, latest: true).eraseToAnyPublisher()
          : subject.debounce(for: .milliseconds(2), scheduler: queue).eraseToAnyPublisher()
        let subscription = timed.filter { $0 == 999 }.first().sink { continuation.resume(returning: $0) }
        for number in 0..<1_000 { subject.send(number) }
        nonisolated(unsafe) let kept = subscription
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { kept.cancel() }
      }
      #expect(last == 999)
    }
  }

  @Test func `streams on queues are merged without a loop`() async {
    let values = await collected {
      (0..<1_000).publisher.receive(on: DispatchQueue(label: "mine")).merge(
        with: (0..<1_000).publisher.receive(on: .global()))
    }
    #expect(values.sorted() == (0..<1_000).flatMap { [$0, $0] })
  }

  @Test func `sending to a subject on two threads traps with an explanation`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in
        nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
        for _ in 0..<2 { Thread.detachNewThread { while true { subject.send(1) } } }
      }
    }
    #expect(result?.says("touched on a different thread than before") == true)
  }

  @Test func `a loop's stream receives values from a queue, and delivers its own to a queue`() async {
    let numbers: [Int] = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let loop = EventLoop()
        let merged = (0..<1_000).publisher
          .flatMap { Just($0).receive(on: DispatchQueue.global()) }
          .handleEvents(receiveOutput: { _ in loop.preconditionIsCurrent() })
          .collect()
          .sink {
            continuation.resume(returning: $0)
            loop.stop()
          }
        loop.run(.untilStopped)
        merged.cancel()
        loop.close()
      }
    }
    #expect(numbers.sorted() == Array(0..<1_000))
  }
}

extension EventLoop {
  fileprivate func preconditionIsCurrent() { #expect(isCurrent) }
}
