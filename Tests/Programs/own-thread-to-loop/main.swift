import FeedStream
import Foundation

// A publisher that delivers on its own thread, and receive(on:) with the loop of the stream, in a program without queues.
// Expects: [1, 2, 3] [1, 2, 3] [6]

struct OwnThread: Publisher {
  typealias Output = Int
  typealias Failure = Never

  func receive<S: Subscriber>(subscriber: S) where S.Input == Int, S.Failure == Never {
    subscriber.receive(subscription: Running(subscriber))
  }

  private final class Running<S: Subscriber>: Subscription, @unchecked Sendable
  where S.Input == Int, S.Failure == Never {
    let subscriber: S
    init(_ subscriber: S) { self.subscriber = subscriber }

    func request(_ demand: Subscribers.Demand) {
      Thread.detachNewThread { [self] in
        for value in 1...3 { _ = subscriber.receive(value) }
        subscriber.receive(completion: .finished)
      }
    }

    func cancel() {}
  }
}

let loop = EventLoop()
nonisolated(unsafe) var results: [[Int]] = []
let scheduler: any LoopScheduler = loop
let streams = [
  OwnThread().receive(on: loop).eraseToAnyPublisher(),
  OwnThread().eraseToAnyPublisher().receive(on: scheduler).eraseToAnyPublisher(),
  OwnThread().map { $0 }.receive(on: loop).reduce(0, +).eraseToAnyPublisher(),
]
let subscriptions = streams.map { stream in
  stream.collect().sink { values in
    precondition(loop.isCurrent)
    results.append(values)
    if results.count == 3 { loop.stop() }
  }
}
loop.run(.untilStopped)
withExtendedLifetime(subscriptions) {}
print(results.sorted { ($1.count, $0[0]) < ($0.count, $1[0]) }.map { "\($0)" }.joined(separator: " "))
