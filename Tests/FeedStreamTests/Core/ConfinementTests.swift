import FeedStream
import Foundation
import TestSupport
import Testing

/// The thread of streams that are created before their loop runs, and the use of streams on other threads.
@Suite("A stream is touched only on its own thread", .settled) struct ConfinementTests {
  /// Runs `body` on its own thread, outside of any task.
  private static func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
      Thread.detachNewThread {
        body()
        done.resume()
      }
    }
  }

  private func says(_ result: ExitTest.Result?, _ text: String) -> Bool {
    String(decoding: result?.standardErrorContent ?? [], as: UTF8.self).contains(text)
  }

  @Test func `a subject touched before its loop runs belongs to that loop`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
        let subscription = subject.sink { _ in }
        loop.schedule { subject.send(1) }
        Thread.detachNewThread { subject.send(1) }
        loop.run(.untilStopped)
        subscription.cancel()
      }
    }
    #expect(says(result, "touched on a different thread than before"))
    #expect(says(result, "FeedStreamTests/ConfinementTests.swift:"))
    #expect(says(result, "on a thread without a loop. Send with subject.sender(on: loop)"))
    #expect(!says(result, "Cancel, and release the cancellable"))
  }

  @Test func `touching a loop thread's subject on a thread without a loop traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
        let loop = EventLoop()
        // The subject hasn't been used before.
        Thread.detachNewThread { subject.send(1) }
        loop.run(.untilStopped)
      }
    }
    #expect(says(result, "touched on a thread that does not run the loop on which it was made"))
  }

  @Test func `using a loop in a part of a stream that runs on a queue traps with the operators to write`() async {
    let below = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        let timer = LoopTimer(on: loop) {}
        let subscription = [1].publisher.receive(on: DispatchQueue(label: "letters"))
          .flatMap { number in
            timer.start(after: .seconds(1))
            return Just(number)
          }
          .sink { _ in }
        loop.run(.untilStopped)
        subscription.cancel()
      }
    }
    #expect(says(below, "runs on \"letters\". Write .receive(on: loop) directly above the operator"))
    let above = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        let subscription = Interval(every: .seconds(1), scheduler: loop)
          .subscribe(on: DispatchQueue(label: "letters"))
          .sink { _ in }
        loop.run(.untilStopped)
        subscription.cancel()
      }
    }
    #expect(says(above, "remove .subscribe(on:), or pass it the loop"))
  }

  @Test func `a task that uses another thread's loop traps with advice for tasks`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let thread = try EventLoopThread()
      thread.loop.schedule {}
    }
    #expect(says(result, "write thread.run { loop in … }, or use an OnLoop"))
  }

  @Test func `reading a subject's value on another thread traps, as sending does`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        nonisolated(unsafe) let subject = CurrentValueSubject<[Int], Never>([])
        subject.send([1])
        Thread.detachNewThread { _ = subject.value }
        loop.run(.untilStopped)
      }
    }
    #expect(says(result, "CurrentValueSubject: touched on a different thread than before"))
  }

  @Test func `reading a published property on another thread traps, and the message names it`() async {
    final class Model { @Published var names = ["sea"] }
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        nonisolated(unsafe) let model = Model()
        model.names = []
        Thread.detachNewThread { _ = model.names }
        loop.run(.untilStopped)
      }
    }
    #expect(says(result, "@Published: touched on a different thread than before"))
    #expect(says(result, "Read the value in loop.execute { }"))
  }

  @Test func `reading a value does not decide where a subject lives`() async {
    await Self.onThread {
      nonisolated(unsafe) let subject = CurrentValueSubject<Int, Never>(1)
      let loop = EventLoop()
      let isRead = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        #expect(subject.value == 1)
        isRead.signal()
      }
      isRead.wait()
      subject.send(2)
      #expect(subject.value == 2)
      loop.close()
    }
  }

  @Test func `a task on another thread that touches a loop thread's subject traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
        Task.detached { for await _ in subject.values {} }
        loop.run(.untilStopped)
      }
    }
    #expect(says(result, "is now used in a task"))
    #expect(says(result, "give the actor the loop's executor") && says(result, "Task { @MainActor in"))
  }

  @Test func `an actor on a loop can be created on another thread with its own loop`() async throws {
    let thread = try EventLoopThread()
    let counter = await withUnsafeContinuation { (made: UnsafeContinuation<LoopCounter, Never>) in
      Thread.detachNewThread {
        let loop = EventLoop()
        made.resume(returning: LoopCounter(on: thread.loop))
        loop.close()
      }
    }
    await counter.increment()
    #expect(await counter.count == 1)
    thread.shutdown()
  }

  @Test func `a trap about a timer that is cancelled on a different thread says where to cancel it`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      await ConfinementTests.onThread {
        let loop = EventLoop()
        nonisolated(unsafe) let timer = loop.schedule(
          after: loop.now.advanced(by: .seconds(60)), interval: .seconds(60), tolerance: .zero, options: nil
        ) {}
        Thread.detachNewThread { timer.cancel() }
        loop.run(.untilStopped)
      }
    }
    #expect(says(result, "EventLoop.cancel was called from a thread that does not own the loop"))
    #expect(says(result, "Cancel, and release the cancellable, on the thread that subscribed"))
  }

  #if DEBUG
    @Test func `a stream subscribed before its loop runs belongs to that loop`() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        StreamDiagnostics.writeWarnings()
        await ConfinementTests.onThread {
          let loop = EventLoop()
          nonisolated(unsafe) let subscription = Empty<Int, Never>(completeImmediately: false).scan(0, +)
            .merge(with: Interval(every: .seconds(60), scheduler: loop)).sink { _ in }
          Thread.detachNewThread { subscription.cancel() }
          loop.run(.untilStopped)
        }
      }
      #expect(says(result, "touched on a different thread than"))
      #expect(says(result, "was subscribed to at FeedStreamTests/ConfinementTests.swift:"))
      #expect(says(result, "Cancel, and release the cancellable, on the thread that subscribed"))
    }

    @Test func `a trap says that a subject was first used on a queue, and names the operator that is missing there`()
      async
    {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        await ConfinementTests.onThread {
          let loop = EventLoop()
          let numbers = CurrentValueSubject<Int, Never>(0)
          let subscription = [1].publisher.receive(on: DispatchQueue(label: "letters")).sink { numbers.send($0) }
          loop.run()
          // The code on the queue is wrong, but only this code can be stopped.
          _ = numbers.value
          withExtendedLifetime(subscription) {}
        }
      }
      #expect(says(result, "was first used in a part of a stream that runs on a queue, and is now used on the loop of"))
      #expect(says(result, "Write .receive(on: loop), or .receive(on: DispatchQueue.main), directly above the sink"))
    }
  #endif

  @Test func `a stream moves with its loop to the thread that runs the loop`() async {
    let values = Journal<Int>()
    await Self.onThread {
      let loop = EventLoop()
      nonisolated(unsafe) let subject = PassthroughSubject<Int, Never>()
      nonisolated(unsafe) let subscription = subject.scan(0, +).sink { values.note($0) }
      subject.send(1)
      let hasRun = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        loop.execute { subject.send(2) }
        loop.run()
        subscription.cancel()
        loop.close()
        hasRun.signal()
      }
      hasRun.wait()
    }
    #expect(values.entries == [1, 3])
  }

  @Test(.disabled(if: Sanitizer.current == .thread, "this sanitizer doesn't see how continuations order threads"))
  func `without loops, a stream can be made on one thread and used on another`() async {
    let values = Journal<Int>()
    nonisolated(unsafe) var subject: PassthroughSubject<Int, Never>?
    await Self.onThread { subject = PassthroughSubject() }
    await Self.onThread {
      let subscription = subject?.scan(0, +).sink { values.note($0) }
      subject?.send(1)
      subscription?.cancel()
    }
    #expect(values.entries == [1])
  }
}

private actor LoopCounter {
  private let loop: EventLoop
  private let counts = CurrentValueSubject<Int, Never>(0)
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(on loop: EventLoop) { self.loop = loop }
  var count: Int { counts.value }
  func increment() { counts.send(counts.value + 1) }
}
