import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedStreamTesting

@Suite(.settled) struct VirtualTimeSchedulerTests {
  let time = VirtualTimeScheduler()

  func at(_ seconds: Double) -> StreamInstant { StreamInstant(nanoseconds: Int64(seconds * 1e9)) }

  @Test func `no work runs before time advances`() {
    var ran = false
    time.schedule { ran = true }
    #expect(!ran)
    time.advance()
    #expect(ran)
  }

  @Test func `due work runs in order of time, then of scheduling`() {
    var log: [String] = []
    time.schedule(after: at(2)) { log.append("2a") }
    time.schedule(after: at(1)) { log.append("1") }
    time.schedule(after: at(2)) { log.append("2b") }
    time.schedule { log.append("0") }
    time.schedule(after: at(3)) { log.append("3") }
    time.advance(by: 2)
    #expect(log == ["0", "1", "2a", "2b"])
    #expect(time.now == at(2))
    time.advance(to: at(3))
    #expect(log.last == "3")
  }

  @Test func `work scheduled during an advance runs in the same advance`() {
    var log: [Int64] = []
    let time = time
    time.schedule(after: at(1)) {
      time.schedule(after: time.now.advanced(by: 1)) { log.append(time.now.nanoseconds) }
      time.schedule(after: time.now.advanced(by: 1.5)) { log.append(-1) }
      time.schedule { log.append(time.now.nanoseconds) }
    }
    time.advance(by: 2)
    #expect(log == [1_000_000_000, 2_000_000_000])
  }

  // The thread sanitizer finds a race between the two, which run at the same time here.
  @Test func `a sleeping task may be cancelled on another thread at its deadline`() async {
    for _ in 0..<100 {
      let time = VirtualTimeScheduler()
      let sleeper = Task(executorPreference: time) { try? await Task.sleep(for: .seconds(1), clock: time) }
      time.advance()
      let isReady = Atomic(false)
      let isDue = Atomic(false)
      let cancelling = Task.detached {
        isReady.store(true, ordering: .releasing)
        while !isDue.load(ordering: .acquiring) { await Task.yield() }
        sleeper.cancel()
      }
      while !isReady.load(ordering: .acquiring) { await Task.yield() }
      isDue.store(true, ordering: .releasing)
      time.advance(by: 1)
      await cancelling.value
      time.run()
      #expect(time.pending.isEmpty)
      await sleeper.value
    }
  }

  @Test func `work scheduled in the past runs once, now`() {
    var log: [Int64] = []
    let time = VirtualTimeScheduler(startingAt: at(5))
    time.schedule(after: at(1)) { log.append(time.now.nanoseconds) }
    time.advance()
    time.advance(by: 10)
    #expect(log == [5_000_000_000])
  }

  @Test func `repeated work runs at its interval until it is cancelled`() {
    var log: [Int64] = []
    let time = time
    var repetition: (any Cancellable)?
    repetition = time.schedule(after: at(1), interval: 0.5) {
      log.append(time.now.nanoseconds / 1_000_000)
      if log.count == 3 { repetition?.cancel() }
    }
    time.advance(by: 10)
    #expect(log == [1000, 1500, 2000])
    #expect(time.pending.isEmpty)
  }

  @Test func `after a stall, repeated work runs once and keeps its rhythm, as on a loop`() {
    var log: [Int64] = []
    let time = time
    let repetition = time.schedule(after: at(1), interval: 1) { log.append(time.now.nanoseconds / 1_000_000) }
    time.stall(for: 3.5)
    time.advance(by: 1.5)
    #expect(log == [3500, 4000, 5000])
    repetition.cancel()
  }

  @Test func `repeated work has no next run at the end of time`() {
    var runs = 0
    let repetition = time.schedule(after: time.now, interval: 1) { runs += 1 }
    time.stall(for: .seconds(.infinity))
    time.advance()
    #expect(runs > 0)
    #expect(time.pending.isEmpty)
    repetition.cancel()
  }

  @Test func `repeated work that began in the past keeps its rhythm, as on a loop`() {
    var log: [Int64] = []
    let time = VirtualTimeScheduler(startingAt: at(10))
    let repetition = time.schedule(after: at(7.5), interval: 1) { log.append(time.now.nanoseconds / 1_000_000) }
    time.advance(by: 2)
    #expect(log == [10_000, 10_500, 11_500])
    repetition.cancel()
  }

  @Test func `origins are traced only at an instant that may be endless`() {
    var traces: [Bool] = []
    let time = time
    time.workLimit = 10
    for _ in 0..<20 { time.schedule {} }
    time.schedule { traces.append(time.tracesOrigins) }
    time.schedule(after: at(1)) {}
    time.schedule(after: at(1)) { traces.append(time.tracesOrigins) }
    time.advance(by: 1)
    #expect(traces == [true, false])
  }

  @Test func `work due during a stall runs afterwards, in order`() {
    var log: [String] = []
    let time = time
    for (name, second) in [("c", 3), ("a", 1), ("b", 2)] as [(String, Double)] {
      time.schedule(after: at(second)) { log.append("\(name) \(time.now.nanoseconds / 1_000_000)") }
    }
    time.stall(for: 2.5)
    #expect(log == [])
    time.advance(by: 1)
    #expect(log == ["a 2500", "b 2500", "c 3000"])
    let failures = failures { time.stall(for: -1) }
    #expect(failures.map(\.message) == ["stall(for: -1s): time cannot go back; stall for zero or more"])
    #expect(time.now == at(3.5))
  }

  @Test func `run() runs all work except work scheduled for the end of time`() {
    var log: [String] = []
    let time = time
    time.schedule(after: at(86_400)) { log.append("day") }
    time.schedule(after: StreamInstant(nanoseconds: .max)) { log.append("never") }
    time.run()
    #expect(log == ["day"])
    #expect(time.now == at(86_400))
    #expect(time.pending.map(\.when) == [StreamInstant(nanoseconds: .max)])
  }

  @Test func `pending work is listed with its time and line`() {
    time.schedule(after: at(2)) {}
    time.schedule {}
    let line = UInt(#line)
    #expect(time.pending.map(\.when) == [at(0), at(2)])
    #expect("\(time.pending[0].origin)".hasSuffix("VirtualTimeSchedulerTests.swift:\(line - 1)"))
    #expect("\(time.pending[1])" == "2s: FeedStreamTestingTests/VirtualTimeSchedulerTests.swift:\(line - 2)")
  }

  @Test func `tracing names the operator that scheduled pending work`() {
    func someOperator<S: Scheduler>(_ scheduler: S) { scheduler.schedule {} }
    time.tracesOrigins = true
    someOperator(time)
    #expect("\(time.pending[0])".contains("someOperator"))
  }

  @Test func `tracing doesn't read memory-mapped files`() async {
    await #expect(processExitsWith: .success) {
      // Reading the file's mapped memory would now end the process.
      let file = tmpfile()
      ftruncate(fileno(file), 65_536)
      mmap(nil, 65_536, PROT_READ, MAP_SHARED, fileno(file), 0)
      ftruncate(fileno(file), 0)
      let time = VirtualTimeScheduler()
      time.tracesOrigins = true
      (time as any LoopScheduler).schedule {}
      exit(time.pending.map(\.origin) == [.untraced] ? 0 : 1)
    }
  }

  @Test func `a negative advance fails on its line and has no effect`() {
    let time = time
    let failures = failures {
      time.advance(by: -1)
    }
    #expect(failures.map(\.line) == [#line - 2])
    #expect(failures[0].message.contains("advance(by: -1s)"))
    #expect(time.now == at(0))
  }

  @Test func `endless work fails, and is named`() {
    let time = time
    time.workLimit = 1000
    func again() { time.schedule { again() } }
    again()
    let failures = failures { time.advance() }
    #expect(failures.count == 1)
    #expect(failures[0].message.contains("1000 pieces of work ran at 0s"))
    #expect(failures[0].message.contains("VirtualTimeSchedulerTests.swift:\(#line - 5)"))
  }

  @Test func `an operator that reschedules endlessly is named by its function`() {
    let time = time
    time.workLimit = 100
    func busyOperator<S: Scheduler>(_ scheduler: S) { scheduler.schedule { busyOperator(scheduler) } }
    busyOperator(time)
    let failures = failures { time.run() }
    #expect(failures[0].message.contains("busyOperator"))
    #expect(!time.tracesOrigins)
  }

  @Test func `offloaded work takes its latency and can be cancelled meanwhile`() {
    let time = time
    var log: [String] = []
    let worked = Mutex(0)
    time.offload({ worked.withLock { $0 += 1 } }, completion: { log.append("a") })
    time.advance()
    #expect(log == ["a"])
    time.offloadLatency = 2
    let cancelled = time.offload({ worked.withLock { $0 += 1 } }, completion: { log.append("b") })
    time.advance(by: 1)
    cancelled.cancel()
    time.offload({ worked.withLock { $0 += 1 } }, completion: { log.append("c") }).cancel()
    time.run()
    #expect(log == ["a"])
    #expect(worked.withLock { $0 } == 2)
    #expect(time.pending.isEmpty)
  }

  @Test func `a seed shuffles timed work but keeps the order of immediate work`() {
    var orders: Set<[Int]> = []
    for seed in 0..<50 {
      let time = VirtualTimeScheduler(order: .seeded(UInt64(seed)))
      var log: [Int] = []
      for n in 0..<3 { time.schedule(after: at(1)) { log.append(n) } }
      time.schedule(after: at(1)) { for n in 10..<13 { time.schedule { log.append(n) } } }
      time.run()
      #expect(log.filter { $0 >= 10 } == [10, 11, 12])
      #expect(Set(log) == [0, 1, 2, 10, 11, 12])
      orders.insert(log)
    }
    #expect(orders.count > 20)
    let again = (0..<2).map { _ in
      let time = VirtualTimeScheduler(order: .seeded(7))
      var log: [Int] = []
      for n in 0..<10 { time.schedule(after: at(1)) { log.append(n) } }
      time.run()
      return log
    }
    #expect(again[0] == again[1])
  }

  @Test func `one advance runs tasks, sleeps and operators in order`() async throws {
    let time = time
    let log = Log()
    let task = Task(executorPreference: time) {
      log.add("task \(time.now.nanoseconds / 1_000_000)")
      try await Task.sleep(for: .seconds(1), clock: time)
      log.add("woke \(time.now.nanoseconds / 1_000_000)")
      async let inner: Void = { try await time.sleep(for: .milliseconds(500)) }()
      try await inner
      log.add("inner \(time.now.nanoseconds / 1_000_000)")
    }
    time.schedule(after: at(1)) { log.add("timer") }
    let clerk = Clerk(time)
    Task(executorPreference: time) { await clerk.note(log) }
    time.advance(by: 1.25)
    #expect(log.all == ["task 0", "clerk", "timer", "woke 1000"])
    time.advance(by: 0.25)
    #expect(log.all.last == "inner 1500")
    try await task.value
  }

  @Test func `sleeps and timers due at one instant keep their order of scheduling`() async throws {
    let time = time
    let log = Log()
    func sleeper(_ name: String) -> Task<Void, any Error> {
      let task = Task(executorPreference: time) {
        try await Task.sleep(for: .seconds(1), clock: time)
        log.add(name)
        await Task.yield()
        log.add("\(name), later")
      }
      time.advance()
      return task
    }
    let tasks = [sleeper("first")]
    time.schedule(after: at(1)) { log.add("second") }
    let more = [sleeper("third"), sleeper("fourth")]
    time.schedule(after: at(1)) { log.add("fifth") }
    time.advance(by: 1)
    #expect(
      log.all == ["first", "second", "third", "fourth", "fifth", "first, later", "third, later", "fourth, later"])
    for task in tasks + more { try await task.value }
  }

  @Test func `a cancelled sleep ends immediately and leaves no pending work`() async {
    let time = time
    let task = Task(executorPreference: time) {
      do { try await time.sleep(for: .seconds(60)) } catch { return "cancelled at \(time.now.nanoseconds)" }
      return "slept"
    }
    time.advance(by: 1)
    task.cancel()
    time.advance()
    #expect(await task.value == "cancelled at 1000000000")
    #expect(time.pending.isEmpty)
  }
}

private final class Log: Sendable {
  private let entries = Mutex<[String]>([])
  var all: [String] { entries.withLock { $0 } }
  func add(_ entry: String) { entries.withLock { $0.append(entry) } }
}

private actor Clerk {
  let time: VirtualTimeScheduler
  init(_ time: VirtualTimeScheduler) { self.time = time }
  nonisolated var unownedExecutor: UnownedSerialExecutor { time.asUnownedSerialExecutor() }
  func note(_ log: Log) { log.add("clerk") }
}
