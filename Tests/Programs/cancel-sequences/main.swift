import Dispatch
import FeedStream
import Foundation

// Chains that take events from one publisher after another, or from two at a time, cancelled on the subscribing thread
// while queues and futures deliver. Without a loop.
// Expects: cancelled 9 kinds of chains; 0 values after that

struct Offline: Error {}
let queue = DispatchQueue.global()

func ask(_ isUp: Bool) -> Future<String, Offline> {
  Future { promise in
    DispatchQueue.global().async { promise(isUp ? .success("the answer of the second server") : .failure(Offline())) }
  }
}
func number(_ value: Int) -> Future<String, Never> {
  Future { promise in DispatchQueue.global().async { promise(.success("the text number \(value)")) } }
}
let numbers = (0..<20).publisher

/// Subscribes, waits for up to 60 µs, and cancels; for a tenth of a second.
func attempt(_ subscribe: () -> AnyCancellable) {
  let end = Date() + 0.1
  var round: UInt32 = 0
  while Date() < end {
    round += 1
    let subscription = subscribe()
    usleep(round % 60)
    subscription.cancel()
  }
}

attempt { ask(false).catch { _ in ask(true) }.map { [$0] }.sink(receiveCompletion: { _ in }, receiveValue: { _ in }) }
attempt { Deferred { ask(false) }.retry(5).replaceError(with: "no answer").map { [$0] }.sink { _ in } }
attempt {
  Fail<String, Offline>(error: Offline()).catch { _ in numbers.receive(on: queue).map { "\($0)" } }.map { [$0] }
    .sink { _ in }
}
attempt { numbers.receive(on: queue).map { "the text \($0)" }.subscribe(on: queue).map { [$0] }.sink { _ in } }
attempt { number(2).drop(untilOutputFrom: number(1)).scan([String]()) { $0 + [$1] }.sink { _ in } }
attempt { number(2).prefix(untilOutputFrom: number(1)).scan([String]()) { $0 + [$1] }.sink { _ in } }
attempt { number(2).withLatestFrom(number(1)) { [$0, $1] }.scan([[String]]()) { $0 + [$1] }.sink { _ in } }

nonisolated(unsafe) var isCancelled = false
nonisolated(unsafe) var late = 0

/// Cancels on the main thread, and counts the values that arrive later.
func count(_ subscribe: () -> AnyCancellable) {
  for _ in 0..<40 {
    isCancelled = false
    let subscription = subscribe()
    RunLoop.main.run(until: Date() + 0.001)
    subscription.cancel()
    // A delivery in progress on the queue may continue.
    usleep(20_000)
    isCancelled = true
    RunLoop.main.run(until: Date() + 0.001)
  }
}

let later = (0..<100).publisher.delay(for: .milliseconds(1), scheduler: DispatchQueue.main)
count { numbers.receive(on: queue).append(later).sink { _ in if isCancelled { late += 1 } } }
count {
  Fail<Int, Offline>(error: Offline()).receive(on: queue).catch { _ in later }.sink { _ in if isCancelled { late += 1 }
  }
}
print("cancelled 9 kinds of chains; \(late) values after that")
