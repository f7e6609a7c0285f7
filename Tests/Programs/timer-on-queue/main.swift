// Timers on queues: subscribed on the main thread and on a queue, shared, within flatMap, and while a loop runs.
// Expects: 200 on a serial queue, 50 on a concurrent one, 40 within flatMap, shared by 2, stopped, 3 while a loop runs
import Dispatch
import FeedStream
import Foundation

let lock = NSLock()
nonisolated(unsafe) var counts: [String: Int] = [:]
@Sendable func count(_ name: String) { lock.withLock { counts[name, default: 0] += 1 } }
@Sendable func number(_ name: String) -> Int { lock.withLock { counts[name] ?? 0 } }

let done = DispatchGroup()
nonisolated(unsafe) var bag: Set<AnyCancellable> = []

/// Counts ticks and the completion.
@Sendable func take(_ name: String, _ ticks: some Publisher<Int, Never>) -> AnyCancellable {
  done.enter()
  return ticks.sink { _ in
    done.leave()
  } receiveValue: { _ in
    count(name)
  }
}

let serial = DispatchQueue(label: "ticks")
for _ in 0..<50 {
  take("serial", serial.timer(every: .milliseconds(1)).autoconnect().prefix(4).map { _ in 1 }).store(in: &bag)
}
done.wait()
let concurrent = DispatchQueue.global()
for _ in 0..<10 {
  done.enter()
  concurrent.async {
    let ticks = take("concurrent", concurrent.timer(every: .milliseconds(1)).autoconnect().prefix(5).map { _ in 1 })
    lock.withLock { _ = bag.insert(ticks) }
    done.leave()
  }
}
done.wait()
let nested = (0..<20).publisher.receive(on: serial).flatMap { _ in
  concurrent.timer(every: .milliseconds(1)).autoconnect().prefix(2).map { _ in 1 }
}
take("nested", nested).store(in: &bag)
done.wait()

// Two subscribers share the ticks until another thread stops the timer.
let shared = concurrent.timer(every: .milliseconds(1))
let first = shared.sink { _ in count("first") }
let second = shared.receive(on: DispatchQueue.global()).sink { _ in count("second") }
nonisolated(unsafe) let connection = shared.connect()
for _ in 0..<1_000 where number("first") == 0 || number("second") == 0 { usleep(1_000) }
let sharers = ["first", "second"].filter { number($0) > 0 }.count
concurrent.async(group: done) { connection.cancel() }
done.wait()
usleep(20_000)
let before = number("first") + number("second")
usleep(20_000)
let isStopped = number("first") + number("second") == before
first.cancel()
second.cancel()

let loop = EventLoop()
let last = serial.timer(every: .milliseconds(1)).autoconnect().prefix(3).sink { _ in count("loop") }
loop.run()
print(
  "\(number("serial")) on a serial queue, \(number("concurrent")) on a concurrent one, \(number("nested")) within flatMap, "
    + "shared by \(sharers), \(isStopped ? "stopped" : "not stopped"), \(number("loop")) while a loop runs")
