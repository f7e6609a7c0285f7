import Dispatch
import FeedStream
import Foundation

// Operators that give their subscriber a subscription before upstream's has arrived, below a queue and above others that hold
// values: first on a loop, then on a thread without one. The streams of dropFirst are cancelled at random times.
// Expects: loop: all values; thread: all values

typealias Stream = AnyPublisher<Int, Never>

func source() -> some Publisher<Int, Never> { (0..<40).publisher.receive(on: DispatchQueue(label: "source")) }
func never() -> some Publisher<Int, Never> { Empty(completeImmediately: false) }
func grouped(_ stream: some Publisher<Int, Never>) -> Stream {
  stream.groupBy { $0 % 3 }.flatMap { $0 }.eraseToAnyPublisher()
}
func buffered(_ stream: some Publisher<Int, Never>) -> Stream {
  stream.buffer(size: 4, prefetch: .keepFull, whenFull: .dropOldest).eraseToAnyPublisher()
}

/// The streams, each with the number of its values.
nonisolated(unsafe) let streams: [(make: () -> Stream, count: Int)] = [
  ({ grouped(source().append(7)) }, 41),
  ({ grouped(source().prefix(untilOutputFrom: never())) }, 40),
  ({ grouped(source().withLatestFrom(Just(1)) { value, _ in value }) }, 40),
  ({ buffered(source().append(7)) }, 41),
  ({ buffered(source().switchIfEmpty(Just(1))) }, 40),
  ({ buffered(source().prefix(untilOutputFrom: never())) }, 40),
  ({ source().timeout(.seconds(60), scheduler: DispatchQueue.global(), fallback: Just(1)).eraseToAnyPublisher() }, 40),
  ({ grouped(source().dropFirst()) }, 39),
]

/// Counts values, and requests each after the one before.
final class Counter: Subscriber, @unchecked Sendable {
  typealias Input = Int
  typealias Failure = Never

  let finished = DispatchSemaphore(value: 0)
  private(set) var count = 0

  func receive(subscription: any Subscription) { subscription.request(.max(1)) }
  func receive(_ value: Int) -> Subscribers.Demand {
    count += 1
    return .max(1)
  }
  func receive(completion: Subscribers.Completion<Never>) { finished.signal() }
}

/// Subscribes to all streams on the calling thread. Later, `wait` returns what was lost.
func subscribe() -> [(Counter, Int)] {
  for round in 0..<300 {
    let subscription = source().dropFirst().takeLast(5).receive(on: DispatchQueue.global()).sink { _ in }
    usleep(UInt32(round % 60 * 4))
    subscription.cancel()
  }
  return (0..<20).flatMap { _ in
    streams.map { stream in
      let counter = Counter()
      stream.make().receive(on: DispatchQueue(label: "counter")).subscribe(counter)
      return (counter, stream.count)
    }
  }
}

func result(_ counters: [(Counter, Int)]) -> String {
  for (index, (counter, expected)) in counters.enumerated() {
    let arrived = counter.finished.wait(timeout: .now() + 10) == .success
    guard arrived, counter.count == expected else {
      return "\(counter.count) of \(expected) values of stream \(index % streams.count)"
    }
  }
  return "all values"
}

func onThread() -> String {
  nonisolated(unsafe) var text = ""
  let isOver = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    text = result(subscribe())
    isOver.signal()
  }
  isOver.wait()
  return text
}

let loop = EventLoop()
nonisolated(unsafe) let counters = subscribe()
nonisolated(unsafe) var onLoop = ""
Thread.detachNewThread {
  onLoop = result(counters)
  loop.execute { loop.stop() }
}
loop.run(.untilStopped)
print("loop: \(onLoop); thread: \(onThread())")
