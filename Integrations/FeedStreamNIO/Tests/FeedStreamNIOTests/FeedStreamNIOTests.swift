import Dispatch
import FeedStream
import FeedStreamNIO
import NIOCore
import NIOEmbedded
import NIOPosix
import Synchronization
import Testing

@Suite struct FeedStreamNIOTests {
  struct Refused: Error {}

  @Test func `timing operators run on a NIO event loop`() {
    let loop = EmbeddedEventLoop()
    let scheduler: any LoopScheduler = loop.scheduler
    let texts = PassthroughSubject<String, Never>()
    var (searched, ticks): ([String], [Int]) = ([], [])
    let search = texts.debounce(for: .milliseconds(200), scheduler: scheduler).sink { searched.append($0) }
    let interval = Interval(every: .milliseconds(100), scheduler: scheduler).sink { ticks.append($0) }
    texts.send("s")
    loop.advanceTime(by: .milliseconds(150))
    texts.send("se")
    loop.advanceTime(by: .milliseconds(199))
    #expect(searched == [])
    loop.advanceTime(by: .milliseconds(1))
    #expect(searched == ["se"])
    #expect(ticks == [0, 1, 2])
    interval.cancel()
    loop.advanceTime(by: .seconds(1))
    #expect(ticks == [0, 1, 2])
    search.cancel()
  }

  @Test func `repeated work doesn't drift, and a stall skips the missed runs`() {
    let loop = EmbeddedEventLoop()
    let start = loop.scheduler.now
    var runs: [Int64] = []
    var ticks: [Int64] = []
    func milliseconds() -> Int64 { start.distance(to: loop.scheduler.now).nanoseconds / 1_000_000 }
    let repetition = loop.scheduler.schedule(
      after: start.advanced(by: .milliseconds(10)), interval: .milliseconds(10), tolerance: .zero, options: nil
    ) {
      runs.append(milliseconds())
      // The work takes 4 ms; the third run takes 24 ms.
      loop.advanceTime(by: .milliseconds(runs.count == 3 ? 24 : 4))
    }
    loop.advanceTime(by: .milliseconds(70))
    #expect(runs == [10, 20, 30, 60, 70])
    repetition.cancel()
    let interval = Interval(every: .milliseconds(10), scheduler: loop.scheduler).sink { _ in
      ticks.append(milliseconds())
      loop.advanceTime(by: .milliseconds(4))
    }
    let first = milliseconds() + 10
    loop.advanceTime(by: .milliseconds(30))
    #expect(ticks == [first, first + 10, first + 20])
    #expect(runs.count == 5)
    interval.cancel()
  }

  private final class Item {}

  @Test func `a cancelled delay releases its value immediately, even if it is due`() {
    let loop = EmbeddedEventLoop()
    weak var held: Item?
    var (delayed, cancelled): (AnyCancellable?, AnyCancellable?)
    var received = 0
    // Both are due at the same time, and the first one cancels the second one.
    delayed = Just(1).delay(for: .seconds(1), scheduler: loop.scheduler).sink { _ in cancelled?.cancel() }
    do {
      let item = Item()
      held = item
      cancelled = Just(item).delay(for: .seconds(1), scheduler: loop.scheduler).sink { _ in received += 1 }
    }
    loop.advanceTime(by: .seconds(1))
    #expect(received == 0 && held == nil)
    do {
      let item = Item()
      held = item
      delayed = Just(item).delay(for: .seconds(1), scheduler: loop.scheduler).sink { _ in }
    }
    #expect(held != nil)
    delayed?.cancel()
    #expect(held == nil)
  }

  @Test func `work offloaded from a NIO event loop returns to it`() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let sum = try await loop.flatSubmit {
      let promise = loop.makePromise(of: Int.self)
      loop.scheduler.offload({ (1...10).reduce(0, +) }) { sum in
        loop.preconditionInEventLoop()
        promise.succeed(sum)
      }
      return promise.futureResult
    }.get()
    #expect(sum == 55)
  }

  @Test func `offloaded work that is cancelled before it begins doesn't run`() async throws {
    let (pool, loop) = (NIOThreadPool.singleton, MultiThreadedEventLoopGroup.singleton.next())
    let gate = DispatchSemaphore(value: 0)
    let hasRun = Atomic(false)
    // The pool runs its work in order, so the offloaded work waits until a thread is free.
    let threads = NIOSingletons.blockingPoolThreadCountSuggestion
    for _ in 0..<threads { pool.submit { _ in gate.wait() } }
    try await loop.submit {
      loop.scheduler.offload({ hasRun.store(true, ordering: .relaxed) }) { _ in }.cancel()
    }.get()
    // The first free thread comes to the cancelled work before it comes to this work.
    gate.signal()
    try await pool.runIfActive(eventLoop: loop) {}.get()
    for _ in 1..<threads { gate.signal() }
    let ran = hasRun.load(ordering: .relaxed)
    #expect(!ran)
  }

  @Test func `a NIO future is a publisher that delivers on the stream's loop`() {
    let group = MultiThreadedEventLoopGroup.singleton
    let answer = group.next().scheduleTask(in: .milliseconds(1)) { 7 }.futureResult
    let refusal = group.next().makeFailedFuture(Refused()) as EventLoopFuture<Int>
    let loop = FeedStream.EventLoop()
    defer { loop.close() }
    var (values, failures): ([Int], Int) = ([], 0)
    let subscriptions = [answer, refusal].map { future in
      future.publisher.sink {
        if case .failure(is Refused) = $0 { failures += 1 }
      } receiveValue: {
        values.append(loop.isCurrent ? $0 : -1)
      }
    }
    loop.run()
    #expect(values == [7])
    #expect(failures == 1)
    for subscription in subscriptions { subscription.cancel() }
  }

  @Test func `a publisher's first value becomes a NIO future`() async throws {
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    #expect(try await [1, 2].publisher.firstValue(on: loop).get() == 1)
    #expect(try await Empty<Int, Never>().firstValue(on: loop).get() == nil)
    await #expect(throws: Refused.self) { try await Fail<Int, Refused>(error: Refused()).firstValue(on: loop).get() }
    let later = try await loop.flatSubmit {
      Just(3).delay(for: .milliseconds(1), scheduler: loop.scheduler).firstValue(on: loop)
    }.get()
    #expect(later == 3)
  }

  @Test func `a first value may arrive on another thread while firstValue subscribes`() async throws {
    let group = MultiThreadedEventLoopGroup.singleton
    for number in 0..<2_000 {
      let future = group.next().submit { number }
      #expect(try await future.publisher.map { $0 }.firstValue(on: group.next()).get() == number)
      let queue = DispatchQueue.global()
      #expect(try await Just(number).receive(on: queue).firstValue(on: group.next()).get() == number)
    }
  }
}
