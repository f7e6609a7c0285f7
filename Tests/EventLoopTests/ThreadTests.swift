import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedStream

@Suite(.settled) struct ThreadTests {
  @Test func `work posted from many threads all runs, in order per thread`() throws {
    try withLoop { loop in
      let threads = 8
      let each = 2_000
      let seen = Confined([[Int]](repeating: [], count: threads))
      let left = Confined(threads * each)
      let senders = try (0..<threads).map { _ in try EventLoopThread() }
      for (index, sender) in senders.enumerated() {
        sender.loop.execute {
          for number in 0..<each {
            loop.execute {
              #expect(loop.isCurrent)
              seen.value[index].append(number)
              left.value -= 1
              if left.value == 0 { loop.stop() }
            }
          }
        }
      }
      loop.run(.untilStopped)
      for numbers in seen.value { #expect(numbers == Array(0..<each)) }
      for sender in senders { sender.shutdown() }
    }
  }

  @Test func `work posted before run() is run by it, even without other work`() {
    withLoop { loop in
      let count = Confined(0)
      loop.execute { count.value += 1 }
      loop.run()
      #expect(count.value == 1)
    }
  }

  @Test func `work posted from the loop itself waits for the next turn`() {
    withLoop { loop in
      let log = Confined<[String]>([])
      loop.execute {
        loop.execute { log.value.append("second") }
        log.value.append("first")
      }
      loop.run()
      #expect(log.value == ["first", "second"])
    }
  }

  @Test func `stop() from another thread ends a waiting run`() throws {
    try withLoop { loop in
      let other = try EventLoopThread()
      loop.schedule { other.loop.execute { loop.stop() } }
      loop.run(.untilStopped)
      other.shutdown()
    }
  }

  @Test func `a loop thread runs posted work, can shut down twice, and drops work posted afterwards`() throws {
    let thread = try EventLoopThread(name: "a name longer than fifteen bytes")
    let answer = try EventLoopThread()
    withLoop { loop in
      thread.loop.execute { loop.execute { loop.stop() } }
      loop.run(.untilStopped)
    }
    thread.shutdown()
    thread.shutdown()
    thread.loop.execute { Issue.record("a closed loop ran work") }
    thread.loop.stop()
    answer.shutdown()
  }

  #if os(Linux)
    @Test(arguments: [
      ("feeds", "feeds"), ("a-very-long-name", "a-very-long-nam"), ("aktualisieren-ü", "aktualisieren-"),
    ])
    func `a thread's name is cut between two characters, because Linux keeps only 15 bytes`(
      _ name: String, _ short: String
    ) throws {
      let thread = try EventLoopThread(name: name)
      let kept = thread.loop.result(of: { textOfSystemFile(at: "/proc/thread-self/comm") })
      #expect(kept == "\(short)\n")
      thread.shutdown()
    }
  #endif

  @Test func `a new thread doesn't own an ended thread's loop, even with the same thread id`() throws {
    var names: Set<UInt> = []
    for _ in 0..<8 {
      let ended = try EventLoopThread()
      ended.shutdown()
      let begun = try EventLoopThread()
      withLoop { loop in
        let seen = Confined<(isHere: Bool, name: UInt)?>(nil)
        begun.loop.execute {
          seen.value = (ended.loop.isHere, currentThread())
          loop.stop()
        }
        loop.run(.untilStopped)
        #expect(seen.value?.isHere == false)
        names.insert(seen.value?.name ?? 0)
      }
      begun.shutdown()
    }
    #expect(names.count < 8, "the system used no name twice, so nothing was seen")
  }

  @Test func `a loop thread that is released on its own loop ends`() async throws {
    let thread = Confined<EventLoopThread?>(try EventLoopThread())
    let loop = try #require(thread.value).loop
    await withCheckedContinuation { continuation in
      loop.execute {
        thread.value = nil
        continuation.resume()
      }
    }
  }

  @Test func `two loop threads may release each other at the same time`() throws {
    let threads = [Locked<EventLoopThread?>(try EventLoopThread()), Locked<EventLoopThread?>(try EventLoopThread())]
    let loops = threads.compactMap { $0.withLock { $0?.loop } }
    let begun = Atomic(0)
    let ended = Atomic(0)
    for (loop, other) in zip(loops, threads.reversed()) {
      loop.execute {
        begun.add(1, ordering: .relaxed)
        while begun.load(ordering: .relaxed) < 2 {}
        _ = other.withLock { $0.take() }
        ended.add(1, ordering: .relaxed)
      }
    }
    for _ in 0..<5_000 where ended.load(ordering: .relaxed) < 2 { stall(milliseconds: 1) }
    #expect(ended.load(ordering: .relaxed) == 2)
  }

  /// The loop of a new thread. Only an object that `own` makes owns the thread, and the loop releases this object when
  /// it closes.
  private static func loop(owning own: (EventLoopThread) -> some Sendable) throws -> EventLoop {
    let thread = try EventLoopThread()
    let (loop, owner) = (thread.loop, own(thread))
    loop.result(of: { loop.schedule(after: loop.now.advanced(by: .seconds(100))) { _ = owner } })
    return loop
  }

  @Test func `two loop threads may release each other while their loops close`() throws {
    /// Counts after it has released its thread.
    final class Owner: Sendable {
      private let thread: Locked<EventLoopThread?>
      private let released: Locked<Int>
      init(_ thread: EventLoopThread, _ released: Locked<Int>) {
        self.thread = Locked(thread)
        self.released = released
      }
      deinit {
        _ = thread.withLock { $0.take() }
        released.withLock { $0 += 1 }
      }
    }
    let released = Locked(0)
    /// The loops of two threads, each of which is owned only by the other's loop.
    func loops() throws -> [EventLoop] {
      let threads = [try EventLoopThread(), try EventLoopThread()]
      for (loop, other) in zip(threads.map(\.loop), threads.reversed()) {
        let owner = Owner(other, released)
        loop.result(of: { loop.schedule(after: loop.now.advanced(by: .seconds(100))) { _ = owner } })
      }
      return threads.map(\.loop)
    }
    try loops()[0].stop()
    for _ in 0..<5_000 where released.withLock({ $0 }) < 2 { stall(milliseconds: 1) }
    #expect(released.withLock { $0 } == 2)
  }

  #if os(Linux)
    @Test(.disabled(if: Sanitizer.current != nil, "a sanitizer reserves memory of its own"))
    func `a loop thread that is released while its loop closes keeps no memory`() async {
      await #expect(processExitsWith: .success) {
        // A thread that is neither joined nor detached keeps its stack: 8 MiB of addresses.
        func size() -> Double { ProcessMemory.mebibytes("VmSize", of: getpid()) }
        let before = size()
        for _ in 0..<300 {
          let loop = try ThreadTests.loop { $0 }
          loop.stop()
          // Returns when the loop closes.
          loop.result(of: {})
        }
        #expect(size() - before < 1500)
      }
    }
  #endif

  /// Shuts a thread down when it is released.
  private final class Ender: Sendable {
    let thread: EventLoopThread
    init(_ thread: EventLoopThread) { self.thread = thread }
    deinit { thread.shutdown() }
  }

  @Test func `a thread that shuts itself down while its loop closes traps`() async {
    let ending = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try ThreadTests.loop { Ender($0) }.stop()
      stall(milliseconds: 10_000)
    }
    let message = String(decoding: ending?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("EventLoopThread.shutdown: called on the loop that it waits for"))
  }

  @Test func `an actor on the loop runs there, interleaved with the loop's callbacks`() async throws {
    let thread = try EventLoopThread()
    let counter = Counter(on: thread.loop)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { await counter.increment() } }
      try await group.waitForAll()
    }
    #expect(await counter.count == 200)
    #expect(await counter.countAfterTimer() == 201)
    thread.shutdown()
  }

  @Test func `closing a loop runs all jobs of its actors, one at a time`() async throws {
    for _ in 0..<50 {
      let thread = try EventLoopThread()
      let counter = Counter(on: thread.loop)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask { for _ in 0..<20 { await counter.incrementAnywhere() } }
        }
        thread.shutdown()
        try await group.waitForAll()
      }
      #expect(await counter.count == 160)
    }
  }

  @Test func `assuming isolation on another thread traps`() async {
    await #expect(processExitsWith: .failure) {
      let thread = try EventLoopThread()
      func assume(_ counter: Counter) { counter.assumeIsolated { _ in } }
      assume(Counter(on: thread.loop))
    }
  }
}

/// An actor that lives on a loop.
actor Counter {
  private let loop: EventLoop
  private(set) var count = 0

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }

  func increment() {
    #expect(EventLoop.current === loop)
    count += 1
  }

  /// Counts in a callback of the loop, which is in the actor's isolation.
  func countAfterTimer() async -> Int {
    await withCheckedContinuation { continuation in
      loop.schedule(after: loop.now.advanced(by: .milliseconds(1))) {
        self.assumeIsolated { $0.count += 1 }
        continuation.resume()
      }
    }
    return count
  }

  /// Counts while the loop closes.
  func incrementAnywhere() {
    #expect(loop.isCurrent)
    loop.schedule {}
    count += 1
  }
}

/// A value that one loop's callbacks share.
// @unchecked: used only on one loop, or while that loop does not run.
final class Confined<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
