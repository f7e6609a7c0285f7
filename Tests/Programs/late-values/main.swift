import Dispatch
import FeedStream
import Foundation

// A publisher on a queue is cancelled while its values are on the way to another queue, where the stream goes on with something
// else. None of them arrives any more.
// Expects: 300 and 300 defaults, 300 results of the second connection

struct Invalid: Error {}

final class Box<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var content: Value
  init(_ content: Value) { self.content = content }
  var value: Value { lock.withLock { content } }
  func change(_ body: (inout Value) -> Void) { lock.withLock { body(&content) } }
}

/// Waits until a condition holds, for at most ten seconds.
func wait(until condition: () -> Bool) {
  for _ in 0..<100_000 where !condition() { usleep(100) }
}

let server = DispatchQueue(label: "server")
let disk = DispatchQueue(label: "disk")

// A request fails, the cache answers, its first entry is invalid, and a default follows.
func defaults(cache queue: DispatchQueue) -> Int {
  var count = 0
  for _ in 0..<300 {
    let received = Box<[String]>([])
    let ended = Box(false)
    let subscription = Fail<Int, any Error>(error: Invalid()).receive(on: server)
      .catch { _ in (0..<12).publisher.setFailureType(to: (any Error).self).receive(on: queue) }
      .tryMap { number -> String in
        if number == 0 { throw Invalid() }
        return "entry \(number)"
      }
      .catch { _ in Just("default").receive(on: queue) }
      .sink { _ in
        ended.change { $0 = true }
      } receiveValue: { text in
        received.change { $0.append(text) }
      }
    wait { ended.value }
    if received.value == ["default"] { count += 1 }
    subscription.cancel()
  }
  return count
}
let first = defaults(cache: disk)
let second = defaults(cache: server)

// The last subscriber leaves while values are on the way from the queue, and another one connects again.
let loop = EventLoop()
let connections = Box(0)
nonisolated(unsafe) var results = 0
nonisolated(unsafe) var rounds = 0
nonisolated(unsafe) var bag: [AnyCancellable] = []

func round() {
  rounds += 1
  bag = []
  guard rounds <= 300 else { return }
  let shared = Deferred { () -> AnyPublisher<Int, Never> in
    connections.change { $0 += 1 }
    let connection = connections.value
    return (0..<50).publisher.map { _ in connection }.receive(on: server).eraseToAnyPublisher()
  }.share()
  var isFirst = true
  var old: AnyCancellable?
  old = shared.sink { connection in
    guard isFirst else { return }
    isFirst = false
    old?.cancel()
    old = nil
    var values: [Int] = []
    shared.sink { _ in
      if values == Array(repeating: connection + 1, count: 50) { results += 1 }
      loop.execute { round() }
    } receiveValue: {
      values.append($0)
    }.store(in: &bag)
  }
}
loop.execute { round() }
loop.run()

print("\(first) and \(second) defaults, \(results) results of the second connection")
