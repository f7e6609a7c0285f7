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
        usleep(300_000)
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
          ? LateThread().prefix(for: .milliseconds(100), scheduler: queue).eraseToAnyPublisher()
          : LateThread().timeout(.milliseconds(100), scheduler: queue).eraseToAnyPublisher()
        kept = stream.sink { _ in
          continuation.resume()
        } receiveValue: { number in
          received.withLock { $0.append(number) }
        }
      }
      #expect(received.withLock { $0 } == [1, 2])
      kept = nil
    }
  }
}
