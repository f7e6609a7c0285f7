// Compares the event loop with libuv itself: the same work in Swift and in C.
import CLoop
import FeedStream
import Harness

// Used only by the thread that runs the loop.
final class Counter: @unchecked Sendable {
  var count = 0
  var timers: [any Cancellable] = []
}

func oneShotTimers(_ n: Int) {
  let loop = EventLoop()
  let counter = Counter()
  for index in 0..<n {
    loop.schedule(after: loop.now.advanced(by: .milliseconds(1 + (index &* 7919) % 100))) { counter.count += 1 }
  }
  loop.run()
  loop.close()
  precondition(counter.count == n)
}

func repeatingTimers(_ timers: Int, ticks: Int) {
  let loop = EventLoop()
  let counter = Counter()
  for index in 0..<timers {
    let first = loop.now.advanced(by: .milliseconds(1 + index % 10))
    counter.timers.append(
      loop.schedule(after: first, interval: .milliseconds(10)) {
        counter.count += 1
        if counter.count == ticks { for timer in counter.timers { timer.cancel() } }
      })
  }
  loop.run()
  loop.close()
  counter.timers = []
}

func pingPong(_ n: Int) throws {
  let loop = EventLoop()
  let thread = try EventLoopThread()
  let counter = Counter()
  let other = thread.loop
  @Sendable func ping() {
    other.execute {
      loop.execute {
        counter.count += 1
        if counter.count < n { ping() } else { loop.stop() }
      }
    }
  }
  ping()
  loop.run(.untilStopped)
  thread.shutdown()
  loop.close()
}

func schedule(_ n: Int) {
  let loop = EventLoop()
  let counter = Counter()
  for _ in 0..<n { loop.schedule { counter.count += 1 } }
  loop.run()
  loop.close()
  precondition(counter.count == n)
}

/// A job that schedules itself again, as in C: a function and its data.
final class Chain {
  let loop = EventLoop()
  var count = 0
  let target: Int

  init(_ target: Int) { self.target = target }

  func goOn() {
    count += 1
    if count < target { loop.schedule { self.goOn() } }
  }
}

func scheduleChains(_ chains: Int, _ n: Int) {
  let chain = Chain(n)
  for _ in 0..<chains { chain.loop.schedule { chain.goOn() } }
  chain.loop.run()
  chain.loop.close()
}

func work(_ n: Int, _ nanoseconds: Int) {
  let loop = EventLoop()
  let counter = Counter()
  for _ in 0..<n {
    loop.offload {
      c_spin(nanoseconds)
      return 1
    } completion: {
      counter.count += $0
    }
  }
  loop.run()
  loop.close()
  precondition(counter.count == n)
}

let report = Report()
let rounds = report.isShort ? 3 : 7
let part = report.isShort ? 10 : 1

/// Measures both in turn and prints a row; `n` is the number of operations that `name` describes.
func compare(
  _ name: String, _ n: Int, _ clock: Clock, inC c: @escaping () -> Void, ours: @escaping () throws -> Void
) throws {
  guard report.wants(name) else { return }
  let times = try interleaved(
    rounds: rounds,
    [
      { clock.time(c).nanoseconds / Double(n) },
      { try clock.time(ours).nanoseconds / Double(n) },
    ])
  let times2 = ratio(times[1], to: times[0])
  show("| \(name) | \(number(times[1].median)) | \(number(times[0].median)) | \(number(times2)) |")
  report.note("loop/\(name)", 1 / times2)
  report.target("\(name): within 1.3× of C", times2 <= 1.3, number(times2))
}

show("| Work | FeedStream, ns each | libuv in C, ns each | ratio |\n|---|---|---|---|")
// The same number in a short run, because a heap of fewer timers would be a different measurement.
let many = 1_000_000
try compare("one-shot timers", many, .processor, inC: { c_one_shot_timers(many) }, ours: { oneShotTimers(many) })
try compare(
  "10000 repeating timers, a tick", many, .processor, inC: { c_repeating_timers(10_000, many) },
  ours: { repeatingTimers(10_000, ticks: many) })
let rallies = 100_000 / part
try compare(
  "a ping-pong across threads", rallies, .wall, inC: { c_ping_pong(rallies) }, ours: { try pingPong(rallies) })
try compare("schedule, all at once", many, .processor, inC: { c_schedule(many) }, ours: { schedule(many) })
try compare(
  "schedule, 1000 chains", many, .processor, inC: { c_schedule_chains(1000, many) },
  ours: { scheduleChains(1000, many) })
let works = 200_000 / part
try compare("thread-pool work, empty", works, .processor, inC: { c_work(works, 0) }, ours: { work(works, 0) })
let busy = 20_000 / part
try compare("thread-pool work of 20 µs", busy, .wall, inC: { c_work(busy, 20_000) }, ours: { work(busy, 20_000) })
try compareSenders()
try report.finish()
