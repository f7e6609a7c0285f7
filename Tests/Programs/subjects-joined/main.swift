import Dispatch
import FeedStream
import Foundation

// A subject of the main thread that is joined with publishers on queues, in a program without a loop. The other
// publishers' events request values of the subject, and cancel it, on their queues.
// Expects: 100 pairs were complete, 100 failures ended the stream, 100 latest ended, 20000 in turn

// The main thread goes on sending when a stream has ended.
StreamDiagnostics.writeWarnings(false)

struct Offline: Error {}

final class Count: @unchecked Sendable {
  private let lock = NSLock()
  private var number = 0
  func add(_ count: Int = 1) { lock.withLock { number += count } }
  var value: Int { lock.withLock { number } }
}

/// Waits until `count` is at least `limit`, for at most ten seconds.
func wait(for count: Count, _ limit: Int) {
  for _ in 0..<10_000 where count.value < limit { usleep(1_000) }
}

let queue = DispatchQueue(label: "numbers")

// The shorter publisher ends the stream on its queue, while the main thread sends.
let pairs = Count()
let endings = Count()
for round in 1...100 {
  let subject = PassthroughSubject<Int, Never>()
  let received = Count()
  let subscription = subject.zip((0..<50).publisher.receive(on: queue)).sink { _ in
    if received.value == 50 { pairs.add() }
    endings.add()
  } receiveValue: { a, b in
    if a == b { received.add() }
  }
  for number in 0..<200 { subject.send(number) }
  wait(for: endings, round)
  subscription.cancel()
}

// A request that fails on its queue cancels the subject.
let failures = Count()
for round in 1...100 {
  let subject = PassthroughSubject<Int, Offline>()
  let subscription = subject.map { $0 * 2 }.flatMap { number in
    Just(number).setFailureType(to: Offline.self).receive(on: queue)
      .tryMap { if $0 > 100 { throw Offline() } else { $0 } }.mapError { _ in Offline() }
  }.sink { completion in
    if case .failure = completion { failures.add() }
  } receiveValue: { _ in
  }
  for number in 0..<200 { subject.send(number) }
  wait(for: failures, round)
  subscription.cancel()
}

// The latest of both, until the other one fails.
let latest = Count()
for round in 1...100 {
  let subject = CurrentValueSubject<Int, Offline>(0)
  let other = (0..<50).publisher.setFailureType(to: Offline.self).append(Fail(error: Offline())).receive(on: queue)
  let subscription = subject.combineLatest(other).sink { _ in
    latest.add()
  } receiveValue: { _ in
  }
  for number in 0..<200 { subject.send(number) }
  wait(for: latest, round)
  subscription.cancel()
}

// One publisher at a time: each one's end on the queue requests the next number from the buffer below the subject.
let inTurn = Count()
let done = Count()
let numbers = PassthroughSubject<Int, Never>()
let subscription = numbers.buffer(size: .max, prefetch: .keepFull, whenFull: .dropNewest)
  .flatMap(maxPublishers: .max(1)) { Just($0).receive(on: queue) }
  .sink { _ in
    done.add()
  } receiveValue: {
    if $0 == inTurn.value { inTurn.add() }
  }
for number in 0..<20_000 { numbers.send(number) }
numbers.send(completion: .finished)
wait(for: done, 1)

print(
  "\(pairs.value) pairs were complete, \(failures.value) failures ended the stream, \(latest.value) latest ended, \(inTurn.value) in turn"
)
