import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("OnLoop makes, uses and releases its state on its loop", .settled) struct OnLoopTests {
  private final class Log: Sendable {
    private let lines = Mutex<[String]>([])
    var value: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
  }

  /// Records the threads on which it is created, used and released.
  private final class Counter {
    let loop: EventLoop
    let log: Log
    let numbers = PassthroughSubject<Int, Never>()
    private(set) var sum = 0
    private var cancellables: Set<AnyCancellable> = []

    init(on loop: EventLoop, _ log: Log) {
      (self.loop, self.log) = (loop, log)
      note("made")
      numbers.sink { [unowned self] in sum += $0 }.store(in: &cancellables)
    }

    deinit { note("released") }

    private func note(_ text: String) { log.append(loop.isHere ? text : "\(text) elsewhere") }
  }

  @Test func `actions run in order, and get waits for them`() async throws {
    let thread = try EventLoopThread()
    let log = Log()
    let counter = thread.run { loop in Counter(on: loop, log) }
    for number in 1...3 { counter.run { $0.numbers.send(number) } }
    #expect(await counter.get { $0.sum } == 6)
    #expect(await counter.get { $0.loop.isCurrent } == true)
    counter.cancel()
    counter.run { $0.numbers.send(4) }
    #expect(await counter.get { $0.sum } == nil)
    thread.shutdown()
    #expect(log.value == ["made", "released"])
  }

  @Test func `actions run in the order of the calls, whichever threads make them`() async throws {
    let (thread, other) = (try EventLoopThread(), try EventLoopThread())
    let loop = thread.loop
    let handles = await withCheckedContinuation { continuation in
      loop.execute {
        // In a turn of the loop.
        loop.schedule {
          let elsewhere = other.loop.result(of: { OnLoop(loop) { _ in [Int]() } })!
          let handles = [OnLoop(loop) { _ in [Int]() }, elsewhere]
          for handle in handles {
            handle.run { $0.append(1) }
            other.loop.result(of: { handle.run { $0.append(2) } })
            handle.run { $0.append(3) }
          }
          continuation.resume(returning: handles)
        }
      }
    }
    for handle in handles { #expect(await handle.get { $0 } == [1, 2, 3]) }
    for thread in [thread, other] { thread.shutdown() }
  }

  @Test func `a handle that is released in the loop's last turn releases its state`() throws {
    for _ in 0..<20 {
      let log = Log()
      do {
        let counter = try EventLoopThread().run { loop in Counter(on: loop, log) }
        // The action is the last to hold the handle, which alone keeps the thread alive.
        counter.run { [counter] _ in withExtendedLifetime(counter) {} }
      }
      for _ in 0..<100_000 where log.value.count < 2 { usleep(100) }
      #expect(log.value == ["made", "released"])
    }
  }

  @Test func `releasing the handle releases the state and its subscriptions`() async throws {
    let log = Log()
    do {
      // The handle keeps the thread alive.
      let counter = try EventLoopThread().run { loop in Counter(on: loop, log) }
      #expect(await counter.get { $0.sum } == 0)
    }
    #expect(log.value == ["made", "released"])
  }

  @Test func `closing the loop releases the state of its handles`() async throws {
    let thread = try EventLoopThread()
    let log = Log()
    let counter = thread.run { loop in Counter(on: loop, log) }
    #expect(await counter.get { $0.sum } == 0)
    thread.shutdown()
    #expect(log.value == ["made", "released"])
    #expect(await counter.get { $0.sum } == nil)
    counter.cancel()
  }

  @Test func `on the current thread's loop, the state is made when the loop runs, and released immediately`() {
    let log = Log()
    withLoop { loop in
      let counter = OnLoop(loop) { Counter(on: $0, log) }
      #expect(log.value == [])
      loop.run()
      #expect(log.value == ["made"])
      counter.cancel()
      #expect(log.value == ["made", "released"])
      let unmade = OnLoop(loop) { Counter(on: $0, log) }
      unmade.cancel()
      loop.run()
    }
    #expect(log.value == ["made", "released"])
  }

  @Test func `a handle doesn't keep a loop that never runs`() {
    weak var released: EventLoop?
    do {
      let loop = EventLoop()
      released = loop
      _ = OnLoop(loop) { _ in 1 }
    }
    #expect(released == nil)
  }

  @Test func `a handle that is released as its loop stops doesn't keep the loop`() {
    weak var released: EventLoop?
    do {
      let loop = EventLoop()
      released = loop
      let handle = Locked<OnLoop<Int>?>(OnLoop(loop) { _ in 1 })
      loop.execute { [unowned loop] in
        handle.withLock { $0 = nil }
        loop.stop()
      }
      loop.run()
    }
    #expect(released == nil)
  }

  @Test func `a state whose handle another thread releases is released on its loop, or when that loop closes`() throws {
    let other = try EventLoopThread()
    let log = Log()
    for isRunAgain in [true, false] {
      withLoop { loop in
        let handle = Locked<OnLoop<Counter>?>(OnLoop(loop) { Counter(on: $0, log) })
        loop.run()
        other.loop.result(of: { handle.withLock { $0 = nil } })
        #expect(log.value.last == "made")
        if isRunAgain { loop.run(.oneTurn) }
      }
      #expect(log.value.last == "released")
    }
    other.shutdown()
  }

  @Test func `an action may cancel the handle or replace the state`() async throws {
    let thread = try EventLoopThread()
    let log = Log()
    let counter = thread.run { loop in Counter(on: loop, log) }
    counter.run { counter in counter = Counter(on: counter.loop, counter.log) }
    counter.run { [unowned counter] state in
      counter.cancel()
      // Released on the next turn.
      #expect(state.sum == 0)
    }
    // This call may come before or after that turn; the next one comes after it.
    _ = await counter.get { $0.sum }
    #expect(await counter.get { $0.sum } == nil)
    thread.shutdown()
    #expect(log.value == ["made", "made", "released", "released"])
  }
}
