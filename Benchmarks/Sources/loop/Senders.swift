// A send from another thread: the same value into a loop, a stream, a channel and a queue.
import AsyncAlgorithms
import CLoop
import Dispatch
import FeedStream
import Foundation
import Harness

/// `n` values from another thread to a subject's subscriber.
func send(_ n: Int) {
  let loop = EventLoop()
  let subject = PassthroughSubject<Int, Never>()
  var sum = 0
  let subscription = subject.sink { sum &+= $0 }
  do {
    let sender = subject.sender(on: loop)
    Thread.detachNewThread {
      for value in 0..<n { sender.send(value) }
      sender.send(completion: .finished)
    }
  }
  loop.run()
  loop.close()
  withExtendedLifetime(subscription) {}
  precondition(sum == n * (n - 1) / 2)
}

/// The same with `execute`, a closure for each value.
func execute(_ n: Int) {
  let loop = EventLoop()
  let counter = Counter()
  Thread.detachNewThread {
    for value in 0..<n { loop.execute { counter.count &+= value } }
    loop.execute { loop.stop() }
  }
  loop.run(.untilStopped)
  loop.close()
}

func yieldToAsyncStream(_ n: Int) {
  let done = DispatchSemaphore(value: 0)
  let (stream, continuation) = AsyncStream<Int>.makeStream()
  Task {
    var sum = 0
    for await value in stream { sum &+= value }
    precondition(sum == n * (n - 1) / 2)
    done.signal()
  }
  Thread.detachNewThread {
    for value in 0..<n { continuation.yield(value) }
    continuation.finish()
  }
  done.wait()
}

func async(_ n: Int) {
  let done = DispatchSemaphore(value: 0)
  let queue = DispatchQueue(label: "benchmark")
  let counter = Counter()
  Thread.detachNewThread {
    for value in 0..<n { queue.async { counter.count &+= value } }
    queue.async { done.signal() }
  }
  done.wait()
}

/// Each value waits until it is requested.
func sendWhenWanted(_ n: Int) throws {
  let thread = try EventLoopThread()
  let done = DispatchSemaphore(value: 0)
  let subject = PassthroughSubject<Int, Never>()
  let sender = subject.sender(on: thread.loop)
  let values = subject.values(on: thread.loop)
  Task {
    for value in 0..<n { await sender.send(value) }
    sender.send(completion: .finished)
  }
  Task {
    var sum = 0
    for await value in values { sum &+= value }
    precondition(sum == n * (n - 1) / 2)
    done.signal()
  }
  done.wait()
  thread.shutdown()
}

func sendToAsyncChannel(_ n: Int) {
  let done = DispatchSemaphore(value: 0)
  let channel = AsyncChannel<Int>()
  Task {
    for value in 0..<n { await channel.send(value) }
    channel.finish()
  }
  Task {
    var sum = 0
    for await value in channel { sum &+= value }
    precondition(sum == n * (n - 1) / 2)
    done.signal()
  }
  done.wait()
}

/// Measures all senders in turn, and prints two tables.
func compareSenders() throws {
  let name = "a send from another thread"
  if report.wants(name) {
    let n = 1_000_000 / part
    let contenders: [(String, () throws -> Void)] = [
      ("`sender.send`", { send(n) }), ("`uv_async_send` and a mutex in C", { c_send(n) }),
      ("`AsyncStream`", { yieldToAsyncStream(n) }), ("`DispatchQueue.async`", { async(n) }),
      ("`loop.execute`", { execute(n) }),
    ]
    let times = try table(name, contenders, n)
    report.note("loop/\(name)", 1 / ratio(times[0], to: times[1]))
    let inC = ratio(times[0], to: times[1])
    report.target("\(name): within 1.5× of C", inC <= 1.5, number(inC))
  }
  let waiting = "a send that waits until it is wanted"
  if report.wants(waiting) {
    let n = 100_000 / part
    let times = try table(
      waiting,
      [("`await sender.send`", { try sendWhenWanted(n) }), ("`AsyncChannel.send`", { sendToAsyncChannel(n) })],
      n)
    report.note("loop/\(waiting)", ratio(times[1], to: times[0]))
  }
}

/// Prints the time of each, and its ratio to the first.
private func table(_ name: String, _ contenders: [(String, () throws -> Void)], _ n: Int) throws -> [[Double]] {
  let times = try interleaved(
    rounds: rounds, contenders.map { contender in { try Clock.wall.time(contender.1).nanoseconds / Double(n) } })
  show("\n| \(name), ns each | median | of ours |\n|---|---|---|")
  for (contender, found) in zip(contenders, times) {
    show("| \(contender.0) | \(number(found.median)) | \(number(ratio(found, to: times[0]))) |")
  }
  return times
}
