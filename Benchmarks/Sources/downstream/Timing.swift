import Dispatch
import FeedStream
import Harness

/// Adds operators that wait: for a time, for a turn of the loop or of a queue, or for a task.
func addTiming(to rows: inout Rows) {
  rows.addOnLoop("ReceiveOn", "receive(on: loop)") { $0.receive(on: $1).end($2) }
  rows.addOnLoop("SubscribeOn", "subscribe(on: loop)") { $0.subscribe(on: $1).end($2) }
  rows.addOnLoop("Delay", "delay") { $0.delay(for: .milliseconds(1), scheduler: $1).end($2) }
  rows.addOnLoop("DelaySubscription", "delaySubscription") { source, loop, add in
    source.delaySubscription(for: .milliseconds(1), scheduler: loop).end(add)
  }
  rows.addOnLoop("Debounce", "debounce") { $0.debounce(for: .milliseconds(1), scheduler: $1).end($2) }
  rows.addOnLoop("Throttle", "throttle, the latest") { source, loop, add in
    source.throttle(for: .milliseconds(1), scheduler: loop, latest: true).end(add)
  }
  rows.addOnLoop("Throttle", "throttle, the first") { source, loop, add in
    source.throttle(for: .milliseconds(1), scheduler: loop, latest: false).end(add)
  }
  rows.addOnLoop("Timeout", "timeout") { $0.timeout(.seconds(60), scheduler: $1).end($2) }
  rows.addOnLoop("TimeoutFallback", "timeout, with a fallback") { source, loop, add in
    source.timeout(.seconds(60), scheduler: loop, fallback: Just(1)).end(add)
  }
  rows.addOnLoop("PrefixFor", "prefix(for:)") { $0.prefix(for: .seconds(60), scheduler: $1).end($2) }
  rows.addOnLoop("Sample", "sample(every:)") { $0.sample(every: .seconds(60), scheduler: $1).end($2) }
  rows.addOnLoop("Window", "window(for:)") { source, loop, add in
    source.window(for: .seconds(60), scheduler: loop).flatMap { $0 }.end(add)
  }
  rows.addOnLoop("CollectByTime", "collect(.byTime)") { source, loop, add in
    source.collect(.byTime(loop, .seconds(60))).map(\.count).end(add)
  }
  rows.addOnLoop("CollectByTime", "collect(.byTimeOrCount)") { source, loop, add in
    source.collect(.byTimeOrCount(loop, .seconds(60), 10)).map(\.count).end(add)
  }
  rows.addOnLoop("MeasureInterval", "measureInterval") { source, loop, add in
    source.measureInterval(using: loop).map { Int($0.nanoseconds & 1) }.end(add)
  }
  addQueues(to: &rows)
  addTasks(to: &rows)
}

/// Adds operators that use a queue: the part above them runs where it is subscribed to, and the part below on the
/// queue.
private func addQueues(to rows: inout Rows) {
  func add(
    _ file: String, _ name: String,
    _ operate: @escaping (Source, DispatchQueue, @escaping (Int) -> Void, DispatchSemaphore) -> AnyCancellable
  ) {
    let queue = DispatchQueue(label: name)
    rows.add(file, name, share: 10) { source, add in
      let isDone = DispatchSemaphore(value: 0)
      let subscription = operate(source, queue, add, isDone)
      isDone.wait()
      return subscription
    }
  }
  add("ReceiveOn", "receive(on: queue)") { $0.receive(on: $1).handleEvents(receiveCompletion: signal($3)).end($2) }
  add("SubscribeOn", "subscribe(on: queue)") {
    $0.subscribe(on: $1).handleEvents(receiveCompletion: signal($3)).end($2)
  }
  add("Debounce", "debounce on a queue") {
    $0.debounce(for: .milliseconds(1), scheduler: $1).handleEvents(receiveCompletion: signal($3)).end($2)
  }
  add("Throttle", "throttle on a queue") {
    $0.throttle(for: .milliseconds(1), scheduler: $1, latest: true).handleEvents(receiveCompletion: signal($3)).end($2)
  }
}

private func signal(_ semaphore: DispatchSemaphore) -> (Subscribers.Completion<Never>) -> Void {
  { _ in semaphore.signal() }
}

private func addTasks(to rows: inout Rows) {
  rows.addOnLoop("MapAsync", "mapAsync", share: 100) { source, _, add in source.mapAsync(limit: 4) { $0 }.end(add) }
  rows.addOnLoop("MapAsync", "tryMapAsync", share: 100) { source, _, add in
    source.tryMapAsync(limit: 4) { $0 }.end(add)
  }
  rows.addOnLoop("AsyncPublisher", "values", share: 100) { source, loop, add in
    let values = source.values
    let box = UncheckedBox(add)
    let task = Task { for await value in values { box.value(value) } }
    return Future<Void, Never> { await task.value }.sink { _ in }
  }
}

// @unchecked: only one task uses it.
private struct UncheckedBox<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
