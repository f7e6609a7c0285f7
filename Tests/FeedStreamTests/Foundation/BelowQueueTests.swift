import Dispatch
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Operators below queues and threads", .settled) struct BelowQueueTests {
  private struct Full: Error {}
  private final class Token: Sendable {}

  @Test func `a buffer that fails between two queues is released`() async {
    weak var released: Token?
    await withCheckedContinuation { continuation in
      let token = Token()
      released = token
      var subscription: (any Subscription)?
      (0..<100).publisher.setFailureType(to: Full.self).receive(on: DispatchQueue(label: "above"))
        .map { [token] number in
          _ = token
          return number
        }
        .buffer(size: 3, prefetch: .byRequest, whenFull: .customError { Full() })
        .receive(on: DispatchQueue(label: "below"))
        .subscribe(
          AnySubscriber(
            receiveSubscription: {
              subscription = $0
              subscription?.request(.max(1))
            }, receiveValue: { _ in .max(1) },
            receiveCompletion: { _ in
              subscription = nil
              continuation.resume()
            }))
    }
    for _ in 0..<1_000 where released != nil { try? await Task.sleep(for: .milliseconds(5)) }
    #expect(released == nil)
  }

  /// Without a loop, each operator has a home of its own.
  @Test func `tasks and loops below a queue end early`() async throws {
    let group = try EventLoopGroup(count: 2)
    let numbers = (0..<700).publisher.receive(on: DispatchQueue(label: "above"))
    let streams = [
      numbers.mapAsync(limit: 4) { $0 }.prefix(5).eraseToAnyPublisher(),
      numbers.parallelMap(on: group) { $0 }.prefix(5).eraseToAnyPublisher(),
      numbers.parallelMap(on: group, width: 1) { (number: Int) async in number }.prefix(5).eraseToAnyPublisher(),
      numbers.parallel(on: group, width: 1) { $0.map { $0 } }.prefix(5).eraseToAnyPublisher(),
    ]
    for (index, stream) in streams.enumerated() {
      for _ in 0..<10 {
        nonisolated(unsafe) var subscription: AnyCancellable?
        let values = await withUnsafeContinuation { continuation in
          subscription = stream.collect().sink { continuation.resume(returning: $0) }
        }
        #expect(values == [0, 1, 2, 3, 4], "\(index)")
        withExtendedLifetime(subscription) {}
      }
    }
    group.shutdown()
  }

  @Test func `tasks directly below a sequence take all its values`() async {
    for _ in 0..<200 {
      nonisolated(unsafe) var subscription: AnyCancellable?
      let values = await withUnsafeContinuation { continuation in
        subscription = (0..<50).publisher.mapAsync(limit: 8) { $0 }.collect()
          .sink { continuation.resume(returning: $0) }
      }
      #expect(values == Array(0..<50))
      withExtendedLifetime(subscription) {}
    }
  }

  /// Requests a value at the beginning of each delivery.
  private final class Eager: Subscriber, Sendable {
    private let state = Locked<(subscription: (any Subscription)?, events: [String])>((nil, []))
    private let ended: @Sendable ([String]) -> Void

    init(_ ended: @escaping @Sendable ([String]) -> Void) { self.ended = ended }

    private func note(_ event: String) { state.withLock { $0.events.append(event) } }

    func receive(subscription: any Subscription) {
      state.withLock { $0.subscription = subscription }
      subscription.request(.max(1))
    }

    func receive(_ input: Int) -> Subscribers.Demand {
      note("begin \(input)")
      state.withLock { $0.subscription }?.request(.max(1))
      note("end \(input)")
      return .none
    }

    func receive(completion: Subscribers.Completion<Never>) {
      let events = state.withLock { state in
        state.subscription = nil
        return state.events
      }
      ended(events)
    }
  }

  @Test func `values that a delivery requests from a fallback above a queue follow the delivery`() async {
    let events = await withCheckedContinuation { continuation in
      Fail<Int, Full>(error: Full()).receive(on: DispatchQueue.global()).catch { _ in (0..<2).publisher }
        .subscribe(on: DispatchQueue(label: "below")).subscribe(Eager { continuation.resume(returning: $0) })
    }
    #expect(events == ["begin 0", "end 0", "begin 1", "end 1"])
  }

  @Test func `an endless sequence above queues delivers until it is cancelled`() async {
    nonisolated(unsafe) var subscription: AnyCancellable?
    let values = await withCheckedContinuation { continuation in
      subscription = (0..<Int.max).publisher.receive(on: DispatchQueue(label: "first"))
        .receive(on: DispatchQueue(label: "second")).prefix(3).collect()
        .sink { continuation.resume(returning: $0) }
    }
    #expect(values == [0, 1, 2])
    subscription?.cancel()
  }

  private final class Flag: Sendable {
    let isSet = Atomic(false)
  }

  /// Numbers without an end, except that a million numbers after the flag was set are enough to fail a test.
  private struct Endless: Sequence, IteratorProtocol {
    let isCancelled: Flag
    var number = 0
    var left = 1_000_000

    mutating func next() -> Int? {
      if isCancelled.isSet.load(ordering: .relaxed) { left -= 1 }
      number += 1
      return left > 0 ? number : nil
    }
  }

  @Test func `cancelling on another thread stops an endless sequence above subscribe(on:), even in a flatMap`() async {
    for isJoined in [false, true] {
      let events = Journal<String>()
      await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let loop = EventLoop()
          let isCancelled = Flag()
          let endless = Endless(isCancelled: isCancelled).publisher
            .handleEvents(
              receiveCompletion: { _ in events.note("completed") }, receiveCancel: { events.note("cancelled") }
            )
            .subscribe(on: DispatchQueue(label: "endless"))
          let stream =
            isJoined ? Just(0).flatMap { _ in endless }.eraseToAnyPublisher() : endless.eraseToAnyPublisher()
          // Used on this thread only.
          nonisolated(unsafe) var subscription: AnyCancellable?
          subscription = stream.sink { number in
            guard number == 3 else { return }
            loop.execute {
              subscription?.cancel()
              isCancelled.isSet.store(true, ordering: .relaxed)
            }
          }
          loop.run()
          loop.close()
          done.resume()
        }
      }
      #expect(events.entries == ["cancelled"])
    }
  }

  /// Delivers its subscription, and two values, on a thread of its own.
  private struct LateThread: Publisher {
    typealias Output = Int
    typealias Failure = Never

    private final class Nothing: Subscription {
      func request(_ demand: Subscribers.Demand) {}
      func cancel() {}
    }

    func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
      // The thread is the only one that uses the subscriber.
      nonisolated(unsafe) let subscriber = subscriber
      Thread.detachNewThread {
        subscriber.receive(subscription: Nothing())
        for number in 1...2 { _ = subscriber.receive(number) }
        // The queue's timer ends the stream before this.
        usleep(3_000_000)
        subscriber.receive(completion: .finished)
      }
    }
  }

  @Test func `a publisher may deliver its subscription on its own thread to an operator with a queue's timer`() async {
    let queue = DispatchQueue(label: "timers")
    for isPrefix in [false, true] {
      let received = Mutex<[Int]>([])
      // Written before the stream completes, and released after that.
      nonisolated(unsafe) var kept: AnyCancellable?
      await withCheckedContinuation { continuation in
        let stream =
          isPrefix
          ? LateThread().prefix(for: .seconds(1), scheduler: queue).eraseToAnyPublisher()
          : LateThread().timeout(.seconds(1), scheduler: queue).eraseToAnyPublisher()
        kept = stream.sink { _ in
          continuation.resume()
        } receiveValue: { number in
          received.withLock { $0.append(number) }
        }
      }
      #expect(received.withLock { $0 } == [1, 2])
      withExtendedLifetime(kept) {}
    }
  }
}
