import Foundation
import Synchronization
import Testing

@testable import FeedStream

@Suite("A sender delivers values from any thread on the loop", .settled) struct SenderTests {
  /// The number of values that each thread sends; under the thread sanitizer `FEEDSTREAM_SENDS=125000` makes it a million in all.
  private let each = ProcessInfo.processInfo.environment["FEEDSTREAM_SENDS"].flatMap(Int.init) ?? 5_000

  @Test func `values from eight threads all arrive on the loop, in order per thread`() {
    withLoop { loop in
      let subject = PassthroughSubject<(thread: Int, number: Int), Never>()
      let seen = Log<Int>()
      seen.entries = [Int](repeating: 0, count: 8)
      let subscription = subject.sink { value in
        #expect(loop.isCurrent)
        #expect(seen.entries[value.thread] == value.number)
        seen.entries[value.thread] += 1
      }
      let left = Mutex(8)
      do {
        let sender = subject.sender(on: loop)
        for thread in 0..<8 {
          Foundation.Thread.detachNewThread { [each] in
            for number in 0..<each { sender.send((thread, number)) }
            if left.withLock({
              $0 -= 1
              return $0
            }) == 0 {
              sender.send(completion: .finished)
            }
          }
        }
      }
      // The loop returns when the completion has arrived.
      loop.run()
      #expect(seen.entries == [Int](repeating: each, count: 8))
      subscription.cancel()
    }
  }

  @Test func `a burst of values is one wake-up, delivered on a later turn`() {
    withLoop { loop in
      let subject = PassthroughSubject<Int, Never>()
      let log = Log<Int>()
      let subscription = subject.sink { log.note($0) }
      let sender = subject.sender(on: loop, keepsLoopAlive: false)
      loop.schedule {
        for number in 0..<1000 { sender.send(number) }
        #expect(log.entries.isEmpty)
      }
      loop.run()
      #expect(log.entries == Array(0..<1000))
      subscription.cancel()
    }
  }

  @Test func `the loop runs only while the sender exists and its subject has a subscriber`() throws {
    try withLoop { loop in
      let subject = PassthroughSubject<Int, Never>()
      var sender: StreamSender<Int, Never>? = subject.sender(on: loop)
      // There is no subscriber.
      loop.run()
      let log = Log<Int>()
      let subscription = subject.sink { log.note($0) }
      let other = try EventLoopThread()
      other.loop.execute { [sender] in
        stall(milliseconds: 5)
        sender?.send(1)
      }
      sender = nil
      // The last copy is released with the closure.
      loop.run()
      #expect(log.entries == [1])
      other.shutdown()

      sender = subject.sender(on: loop, keepsLoopAlive: false)
      loop.run()
      sender = subject.sender(on: loop)
      subscription.cancel()
      loop.run()
      withExtendedLifetime(sender) {}
    }
  }

  /// Runs in its own process, because the hook is process-wide.
  @Test func `a sender refuses and reports values when its loop is closed or its stream has completed`() async {
    await #expect(processExitsWith: .success) {
      func check() {
        let lost = Mutex<[Int]>([])
        StreamDiagnostics.onDrop { drop in
          if drop.source == "StreamSender", let value = drop.value as? Int { lost.withLock { $0.append(value) } }
        }
        defer { StreamDiagnostics.onDrop(nil) }
        let loop = EventLoop()
        let subject = PassthroughSubject<Int, Never>()
        let log = Log<Int>()
        let subscription = subject.sink { log.note($0) }
        let ended = subject.sender(on: loop)
        #expect(ended.send(1))
        #expect(ended.send(completion: .finished))
        #expect(!ended.send(2))
        #expect(!ended.send(completion: .finished))
        loop.run()
        let closed = subject.sender(on: loop)
        // This value is in transit when the loop closes.
        #expect(closed.send(3))
        loop.close()
        #expect(!closed.send(4))
        #expect(!closed.send(completion: .finished))
        #expect(log.entries == [1])
        #expect(lost.withLock { $0 } == [2, 3, 4])
        subscription.cancel()
      }
      check()
    }
  }

  @Test func `a sender of a closed loop refuses the first value too, even without subscribers`() {
    let subject = PassthroughSubject<Int, Never>()
    let loop = EventLoop()
    let (values, ending) = (subject.sender(on: loop), subject.sender(on: loop, keepsLoopAlive: false))
    loop.close()
    let late = subject.sender(on: loop)
    #expect(!values.send(1))
    #expect(!values.send(2))
    #expect(!ending.send(completion: .finished))
    #expect(!late.send(3))
  }

  @Test func `sending to a completed subject returns .ended`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let subject = PassthroughSubject<Int, Never>()
    subject.send(completion: .finished)
    let sender = subject.sender(on: thread.loop)
    #expect(await sender.send(1) == .ended)
  }

  @Test func `await send waits until the value is requested`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let subject = PassthroughSubject<Int, Never>()
    let sender = subject.sender(on: thread.loop)
    let values = subject.values(on: thread.loop)
    let producer = Task {
      var outcomes: [SendOutcome] = []
      for number in 1...3 { outcomes.append(await sender.send(number)) }
      sender.send(completion: .finished)
      return outcomes
    }
    var received: [Int] = []
    for await value in values { received.append(value) }
    #expect(received == [1, 2, 3])
    #expect(await producer.value == [SendOutcome](repeating: .sent(Delivery(delivered: 1)), count: 3))
  }

  @Test func `a waiting send returns .cancelled when its task is cancelled, and .closed when its loop closes`()
    async throws
  {
    let thread = try EventLoopThread()
    let subject = PassthroughSubject<Int, Never>()
    let sender = subject.sender(on: thread.loop)
    let waiting = Task { await sender.send(1) }
    waiting.cancel()
    #expect(await waiting.value == .cancelled)
    let abandoned = Task { await sender.send(2) }
    // The work may be queued before or after the value: the drop is reported in either case.
    await withCheckedContinuation { continuation in thread.loop.execute { continuation.resume() } }
    thread.shutdown()
    #expect(await abandoned.value == .closed)
    #expect(await sender.send(3) == .closed)
  }

  /// A value may arrive just when a delivery finds that nothing waits, so the task must continue very quickly.
  @Test(.timeLimit(.minutes(5))) func `every await send returns while there is demand`() async throws {
    let thread = try EventLoopThread()
    defer { thread.shutdown() }
    let tasks = ManualTasks()
    defer { tasks.isOver.store(true, ordering: .relaxed) }
    Foundation.Thread.detachNewThread { while !tasks.isOver.load(ordering: .relaxed) { tasks.run() } }
    let stream = thread.run { loop in
      let subject = PassthroughSubject<Int, Never>()
      return (sender: subject.sender(on: loop, keepsLoopAlive: false), sink: subject.sink { _ in })
    }
    let sender = try #require(await stream.get { $0.sender })
    // A cancellation at the time limit answers a send that is forgotten.
    let task = tasks.start { for number in 0..<5_000 where !Task.isCancelled { await sender.send(number) } }
    await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
  }

  @Test func `await send doesn't overtake values that its task has posted`() {
    withLoop { loop in
      let (subject, log, tasks) = (PassthroughSubject<Int, Never>(), Log<Int>(), ManualTasks())
      let subscription = subject.sink {
        log.note($0)
        // The first task continues while the second task's value is delivered.
        if $0 == 100 { tasks.run() }
      }
      let sender = subject.sender(on: loop, keepsLoopAlive: false)
      tasks.start {
        await sender.send(1)
        sender.post(2)
        await sender.send(3)
      }
      tasks.start { await sender.send(100) }
      tasks.run()
      loop.run()
      tasks.run()
      #expect(log.entries == [1, 100, 2, 3])
      subscription.cancel()
    }
  }

  @Test func `tasks that always await send leave the loop time for other work`() {
    withLoop { loop in
      let (subject, log, tasks) = (PassthroughSubject<Int, Never>(), Log<Int>(), ManualTasks())
      var delivered = 0
      let subscription = subject.sink { _ in
        if delivered == 0 { loop.schedule { log.note(delivered) } }
        delivered += 1
        // One task sends its next value while the other's value is delivered.
        tasks.run()
      }
      let sender = subject.sender(on: loop, keepsLoopAlive: false)
      for _ in 0..<2 { tasks.start { for number in 0..<1000 { await sender.send(number) } } }
      tasks.run()
      loop.run {
        tasks.run()
        return delivered == 2000
      }
      tasks.run()
      #expect(log.entries.count == 1 && log.entries.allSatisfy { $0 < 200 })
      #expect(delivered == 2000)
      subscription.cancel()
    }
  }

  private final class Counted: Sendable {
    static let count = Atomic(0)
    init() { Self.count.add(1, ordering: .relaxed) }
    deinit { Self.count.subtract(1, ordering: .relaxed) }
  }

  @Test func `values of cancelled sends are released, even if an earlier value waits`() {
    withLoop { loop in
      let (subject, tasks) = (PassthroughSubject<Counted, Never>(), ManualTasks())
      let sender = subject.sender(on: loop, keepsLoopAlive: false)
      let first = tasks.start { await sender.send(Counted()) }
      tasks.run()
      for _ in 0..<1000 {
        let task = tasks.start { await sender.send(Counted()) }
        tasks.run()
        task.cancel()
        tasks.run()
      }
      let count = Counted.count.load(ordering: .relaxed)
      #expect(count == 1)
      #expect(sender.inbox.waiting.count < 100)
      first.cancel()
      tasks.run()
      loop.run()
    }
  }

  @Test func `a subject forgets its senders when their loop closes`() throws {
    let other = try EventLoopThread()
    let subject = PassthroughSubject<Int, Never>()
    let loop = EventLoop()
    let kept = subject.sender(on: loop, keepsLoopAlive: false)
    let dropped = Locked<StreamSender<Int, Never>?>(subject.sender(on: loop, keepsLoopAlive: false))
    #expect(subject.conduits.watchers.count == 2)
    // The loop closes without running the work that this release posts.
    other.loop.result(of: { dropped.withLock { $0 = nil } })
    #expect(subject.conduits.watchers.count == 2)
    loop.close()
    #expect(subject.conduits.watchers.isEmpty)
    withExtendedLifetime(kept) {}
    other.shutdown()
  }

  /// Runs in its own process, because the refused value causes a warning.
  @Test func `a sender doesn't keep a loop that the program has released, and refuses values for it`() async {
    await #expect(processExitsWith: .success) {
      weak var released: EventLoop?
      func makeSender() -> StreamSender<Int, Never> {
        let loop = EventLoop()
        released = loop
        return PassthroughSubject<Int, Never>().sender(on: loop, keepsLoopAlive: false)
      }
      let sender = makeSender()
      #expect(released == nil)
      #expect(!sender.post(1))
    }
  }

  @Test func `a sender requires a loop`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = PassthroughSubject<Int, Never>().sender
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("sender(on: loop)"))
  }

  @Test func `a stream of a task doesn't live on a loop that another task of the thread has made`() async throws {
    let (group, tasks) = (try EventLoopGroup(count: 1), ManualTasks())
    let values = await onThread {
      var values: [Int]?
      // Both tasks run on this thread. Nobody runs the loop.
      let kept = Locked<EventLoop?>(nil)
      tasks.start { kept.withLock { $0 = EventLoop() } }
      tasks.run()
      let (outcome, sink) = (Locked<[Int]?>(nil), Locked<AnyCancellable?>(nil))
      tasks.start {
        let subscription = [1, 2, 3].publisher.parallel(on: group) { $0 }.collect().sink { values in
          outcome.withLock { $0 = values }
        }
        sink.withLock { $0 = subscription }
      }
      tasks.run()
      for _ in 0..<3_000 where values == nil {
        usleep(10_000)
        values = outcome.withLock { $0 }
      }
      sink.withLock { $0 = nil }
      kept.withLock { $0.take() }?.close()
      return values
    }
    #expect(values == [1, 2, 3])
    group.shutdown()
  }
}

/// Runs a test's tasks when the test says so, on the thread that calls `run()`.
private final class ManualTasks: TaskExecutor {
  // Not a Mutex, which the thread sanitizer does not see.
  private let jobs = Locked<[UnownedJob]>([])
  /// For a thread that runs the tasks.
  let isOver = Atomic(false)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  @discardableResult func start(_ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: self, operation: work)
  }

  /// Runs the tasks until all of them wait.
  func run() {
    while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
      job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
