import Dispatch
import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

/// Operators that take events from one publisher after another, or from a publisher and a trigger, when these deliver on
/// different queues; and cancellation by any thread.
@Suite("Publishers on different queues, one after another", .settled) struct SuccessionTests {
  private struct Offline: Error {}

  /// True in code of the main actor.
  private static var isOnMainQueue: Bool {
    currentQueueLabel(nil).map { String(cString: $0) } == "com.apple.main-thread"
  }

  /// Collects the labels of the queues on which a stream delivers its values, until it ends.
  private func labels<P: Publisher & SendableMetatype>(_ make: @Sendable @escaping () -> P) async -> [String] {
    // The stream may complete before this thread stores its subscription.
    let kept = Locked<AnyCancellable?>(nil)
    let seen = Mutex<[String]>([])
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      // No loop and no task: a thread of its own subscribes.
      Thread.detachNewThread {
        let subscription = make().sink { _ in
          done.resume()
        } receiveValue: { _ in
          seen.withLock { $0.append(currentQueueLabel(nil).map { String(cString: $0) } ?? "") }
        }
        kept.withLock { $0 = subscription }
      }
    }
    withExtendedLifetime(kept) {}
    return seen.withLock { $0 }
  }

  @Test func `after catch, a fallback on another queue is delivered on the first publisher's queue`() async {
    let labels = await labels {
      Fail<Int, Offline>(error: Offline()).receive(on: DispatchQueue(label: "first"))
        .catch { _ in (0..<50).publisher.receive(on: DispatchQueue(label: "second")) }
    }
    #expect(labels == Array(repeating: "first", count: 50))
  }

  @Test func `without a queue and a loop, a fallback on a queue is delivered there, one value at a time`() async {
    let running = Atomic(0)
    let labels = await labels {
      Fail<Int, Offline>(error: Offline())
        .catch { _ in (0..<50).publisher.receive(on: DispatchQueue(label: "second")) }
        .map { value in
          #expect(running.add(1, ordering: .relaxed).newValue == 1)
          running.subtract(1, ordering: .relaxed)
          return value
        }
    }
    #expect(labels.count == 50)
  }

  @Test func `retry stays on the queue of the first attempt, and counts the attempts`() async {
    let attempts = Atomic(0)
    let labels = await labels {
      Deferred {
        let number = attempts.add(1, ordering: .relaxed).newValue
        return (0..<3).publisher.receive(on: DispatchQueue(label: "attempt \(number)"))
          .tryMap { value in if value == 2 { throw Offline() } else { value } }
      }
      .retry(4).replaceError(with: -1)
    }
    #expect(attempts.load(ordering: .relaxed) == 5)
    #expect(labels == Array(repeating: "attempt 1", count: 11))
  }

  @Test func `append on a queue stays there, wherever the appended publisher delivers`() async {
    let labels = await labels {
      (0..<3).publisher.receive(on: DispatchQueue(label: "first"))
        .append((3..<6).publisher.receive(on: DispatchQueue(label: "second")))
    }
    #expect(labels == Array(repeating: "first", count: 6))
  }

  @Test func `subscribe(on:) brings the values of a queue above it to its own queue`() async {
    let labels = await labels {
      (0..<20).publisher.receive(on: DispatchQueue(label: "above")).subscribe(on: DispatchQueue(label: "subscribed"))
    }
    #expect(labels == Array(repeating: "subscribed", count: 20))
  }

  @Test func `a loop's catch takes a fallback on a queue to the loop`() {
    let loop = EventLoop()
    var count = 0
    let subscription = Fail<Int, Offline>(error: Offline())
      .catch { _ in (0..<50).publisher.receive(on: DispatchQueue(label: "second")) }
      .sink { _ in
        #expect(loop.isCurrent)
        count += 1
      }
    loop.run()
    subscription.cancel()
    #expect(count == 50)
  }

  @Test func `two threads may cancel at the same time, and the closure runs once`() async {
    let runs = Atomic(0)
    for _ in 0..<500 {
      nonisolated(unsafe) let cancellable = AnyCancellable { runs.add(1, ordering: .relaxed) }
      await withTaskGroup { group in
        for _ in 0..<2 { group.addTask { cancellable.cancel() } }
      }
    }
    #expect(runs.load(ordering: .relaxed) == 500)
  }

  @Test @MainActor func `a task that another thread cancels leaves the stream where it iterates`() async {
    let subject = CurrentValueSubject<Int, Never>(0)
    var cancelled = 0
    let values = subject.handleEvents(receiveCancel: {
      #expect(Self.isOnMainQueue)
      cancelled += 1
    }).values
    for _ in 0..<50 {
      let task = Task { for await _ in values {} }
      await Task.yield()
      await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        DispatchQueue.global().async {
          task.cancel()
          done.resume()
        }
      }
      subject.send(1)
      await task.value
    }
    #expect(cancelled == 50)
  }

  @Test @MainActor func `an iterator that another thread releases is left on the main actor`() async {
    let subject = PassthroughSubject<Int, Never>()
    var cancelled = 0
    let values = subject.handleEvents(receiveCancel: {
      #expect(Self.isOnMainQueue)
      cancelled += 1
    }).values
    // @unchecked: used by one piece of code after another.
    final class Box: @unchecked Sendable {
      var iterator: AsyncPublisher<Publishers.HandleEvents<PassthroughSubject<Int, Never>>>.Iterator?
    }
    let box = Box()
    box.iterator = values.makeAsyncIterator()
    let first = Task { @MainActor in await box.iterator?.next() }
    await Task.yield()
    subject.send(1)
    #expect(await first.value == 1)
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
      Thread.detachNewThread {
        box.iterator = nil
        done.resume()
      }
    }
    while cancelled == 0 { await Task.yield() }
    #expect(cancelled == 1)
  }

  @Test func `a timer's connection may be cancelled on another thread`() {
    let loop = EventLoop()
    let timer = loop.timer(every: .milliseconds(1))
    var ticks = 0
    let subscription = timer.sink { _ in ticks += 1 }
    nonisolated(unsafe) let connection = timer.connect()
    loop.schedule(after: loop.now.advanced(by: .milliseconds(10))) {
      Thread.detachNewThread { connection.cancel() }
    }
    // Returns when the timer has stopped.
    loop.run()
    #expect(ticks > 0)
    subscription.cancel()
  }

  /// Writes warnings to standard error, and signals each. Waiting for that takes no longer than necessary, even on a
  /// busy machine.
  private static func writtenWarnings() -> DispatchSemaphore {
    let written = DispatchSemaphore(value: 0)
    StreamDiagnostics.onWarning { warning in
      FileHandle.standardError.write(Data("\(warning)\n".utf8))
      written.signal()
    }
    return written
  }

  @Test func `work for a loop that never runs is reported`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let warnings = SuccessionTests.writtenWarnings()
      await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let loop = EventLoop()
          let waiting = (0..<3).publisher.flatMap { Just($0).receive(on: DispatchQueue.global()) }.sink { _ in }
          _ = warnings.wait(timeout: .now() + 60)
          waiting.cancel()
          loop.close()
          done.resume()
        }
      }
    }
    #expect(result?.says("this stream waits for an EventLoop that has never run") == true)
    let withoutStream = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let warnings = SuccessionTests.writtenWarnings()
      await withUnsafeContinuation { (done: UnsafeContinuation<Void, Never>) in
        Thread.detachNewThread {
          let loop = EventLoop()
          Thread.detachNewThread { loop.execute {} }
          _ = warnings.wait(timeout: .now() + 60)
          loop.close()
          done.resume()
        }
      }
    }
    #expect(withoutStream?.says("work from another thread waits for this loop, which has never run") == true)
  }
}

@_silgen_name("dispatch_queue_get_label")
private func currentQueueLabel(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>?
