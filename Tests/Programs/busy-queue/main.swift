// Slow operators on a queue: a timeout, a debounce, a cancellation and a trigger on other queues don't wait for them.
// Expects: [] [1, 2] true true [0]
import Dispatch
import FeedStream
import Foundation

final class Counter: Sendable {
  private let lock = NSLock()
  nonisolated(unsafe) private var number = 0
  func add() { lock.withLock { number += 1 } }
  var count: Int { lock.withLock { number } }
}

func queue(_ name: String) -> DispatchQueue { DispatchQueue(label: name) }
let main = DispatchQueue.main

var late: [Int] = []
let timeout = Just(1).receive(on: queue("timeout"))
  .map { value in
    usleep(1_000_000)
    return value
  }
  .timeout(.milliseconds(200), scheduler: main).sink { late.append($0) }

var paused: [Int] = []
let numbers = PassthroughSubject<Int, Never>()
let debounce = numbers.receive(on: queue("debounce"))
  .map { number in
    if number == 2 { usleep(500_000) }
    return number
  }
  .debounce(for: .milliseconds(100), scheduler: main).sink { paused.append($0) }
numbers.send(1)
numbers.send(2)

let calls = Counter()
nonisolated(unsafe) let cancelled = (0..<100_000).publisher.receive(on: queue("cancelled"))
  .map { number in
    calls.add()
    usleep(100)
    return number
  }
  .receive(on: main).sink { (_: Int) in }
nonisolated(unsafe) var callsAtCancellation = 0
main.asyncAfter(deadline: .now() + 0.2) {
  cancelled.cancel()
  callsAtCancellation = calls.count
}

let (values, valuesAtTrigger) = (Counter(), Counter())
let trigger = Just(()).delay(for: .milliseconds(200), scheduler: queue("trigger"))
  .handleEvents(receiveOutput: { for _ in 0..<values.count { valuesAtTrigger.add() } })
let prefix = (0..<100_000).publisher.receive(on: queue("prefix")).prefix(untilOutputFrom: trigger).sink { _ in
  values.add()
  usleep(100)
}

// A sequence delivers all its values in one piece of work.
var first: [Int] = []
let endless = (0..<Int.max).publisher.receive(on: queue("first")).prefix(1).sink { first.append($0) }

RunLoop.main.run(until: Date() + 1.5)
// One more value may have been in work.
let hasStopped = calls.count <= callsAtCancellation + 1
let hasEnded = values.count <= valuesAtTrigger.count + 5 && valuesAtTrigger.count > 0
print(late, paused, hasStopped, hasEnded, first)
withExtendedLifetime((timeout, debounce, prefix, endless)) {}
