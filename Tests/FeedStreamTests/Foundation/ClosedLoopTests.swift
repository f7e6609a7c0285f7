import Dispatch
import FeedStream
import Foundation
import Testing

/// Streams that outlive their loop: closing or releasing a loop cancels the publishers of streams that cross to queues,
/// and any thread may cancel what remains.
@Suite(.settled) struct ClosedLoopTests {
  /// Counts cancellations, and lives as long as the closures of the stream.
  private final class Witness: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0

    var cancellations: Int { lock.withLock { count } }
    func cancelled() { lock.withLock { count += 1 } }
  }

  /// Values that never end, and their cancellation.
  private static func endless(_ witness: Witness) -> some Publisher<Int, Never> {
    PassthroughSubject<Int, Never>().handleEvents(receiveCancel: { witness.cancelled() })
  }

  @Test func `closing a loop cancels the publishers above a queue`() {
    let (witness, loop) = (Witness(), EventLoop())
    let subscription = Self.endless(witness).receive(on: DispatchQueue(label: "below")).sink { _ in }
    #expect(witness.cancellations == 0)
    loop.close()
    #expect(witness.cancellations == 1)
    subscription.cancel()
    #expect(witness.cancellations == 1)
  }

  @Test func `a stream that crosses to a queue does not keep its loop`() {
    let witness = Witness()
    weak var released: EventLoop?
    var subscription: AnyCancellable?
    do {
      let loop = EventLoop()
      released = loop
      let queue = DispatchQueue(label: "below")
      subscription = Self.endless(witness).delay(for: .seconds(9), scheduler: queue).receive(on: queue).sink { _ in }
    }
    #expect(released == nil)
    #expect(witness.cancellations == 1)
    withExtendedLifetime(subscription) {}
  }

  @Test func `a stream that has been cancelled or has finished leaves nothing on its loop`() {
    let (witness, loop) = (Witness(), EventLoop())
    let queue = DispatchQueue(label: "below")
    let subscription = Self.endless(witness).receive(on: queue).sink { _ in }
    let finished = [1, 2].publisher.receive(on: queue).sink { _ in }
    subscription.cancel()
    loop.run()
    #expect(witness.cancellations == 1)
    loop.close()
    #expect(witness.cancellations == 1)
    withExtendedLifetime(finished) {}
  }

  @Test func `values that have crossed are delivered after the loop is closed`() {
    let loop = EventLoop()
    let queue = DispatchQueue(label: "below")
    nonisolated(unsafe) var values: [Int] = []
    queue.suspend()
    let subscription = [1, 2, 3].publisher.receive(on: queue).sink { values.append($0) }
    loop.close()
    queue.resume()
    queue.sync {}
    #expect(values == [1, 2, 3])
    withExtendedLifetime(subscription) {}
  }

  @Test func `after shutdown, another thread may cancel a thread's streams`() throws {
    let witness = Witness()
    let thread = try EventLoopThread()
    nonisolated(unsafe) var subscriptions: [AnyCancellable] = []
    let ready = DispatchSemaphore(value: 0)
    thread.loop.execute {
      let shared = Self.endless(witness).share()
      subscriptions = [shared.sink { _ in }, shared.delay(for: .seconds(9), scheduler: thread.loop).sink { _ in }]
      ready.signal()
    }
    ready.wait()
    thread.shutdown()
    #expect(witness.cancellations == 0)
    #expect(subscriptions.count == 2)
    subscriptions = []
    #expect(witness.cancellations == 1)
  }

  @Test func `after its loop is closed, a subject belongs to the thread that uses it next`() throws {
    let thread = try EventLoopThread()
    nonisolated(unsafe) let subject = CurrentValueSubject<Int, Never>(0)
    let ready = DispatchSemaphore(value: 0)
    thread.loop.execute {
      subject.send(1)
      ready.signal()
    }
    ready.wait()
    thread.shutdown()
    subject.send(2)
    #expect(subject.value == 2)
  }

  @Test func `closing a loop ends values, and the tasks of mapAsync can still be cancelled`() async throws {
    let witness = Witness()
    let thread = try EventLoopThread()
    nonisolated(unsafe) var subscription: AnyCancellable?
    await withUnsafeContinuation { ready in
      thread.loop.execute {
        subscription = [1, 2].publisher.mapAsync(limit: 2) { value in
          await withTaskCancellationHandler {
            // On a busy machine, minutes can pass before the cancellation.
            _ = try? await Task.sleep(for: .seconds(86_400))
          } onCancel: {
            witness.cancelled()
          }
          return value
        }
        .sink { _ in }
        ready.resume()
      }
    }
    let values = await withUnsafeContinuation { ready in
      thread.loop.execute {
        ready.resume(returning: Empty<Int, Never>(completeImmediately: false).values)
      }
    }
    let reader = Task { for await _ in values {} }
    thread.loop.execute { thread.loop.stop() }
    thread.shutdown()
    await reader.value
    #expect(witness.cancellations == 0)
    subscription?.cancel()
    while witness.cancellations < 2 { try await Task.sleep(for: .milliseconds(1)) }
  }

  private typealias Made = @Sendable (EventLoop, DispatchQueue) -> AnyPublisher<Int, Never>

  private static func ticks<S: Scheduler>(_ scheduler: S) -> some Publisher<Int, Never> {
    Interval(every: .milliseconds(1), scheduler: scheduler).map { _ in 1 }
  }

  private static let streams: [(name: String, make: Made)] = [
    ("to a queue and back", { ticks($0).receive(on: $1).receive(on: $0).eraseToAnyPublisher() }),
    ("from a queue's timer", { ticks($1).receive(on: $0).eraseToAnyPublisher() }),
    ("quiet", { Empty(completeImmediately: false).receive(on: $1).receive(on: $0).eraseToAnyPublisher() }),
    ("below a queue", { ticks($1).subscribe(on: $1).receive(on: $0).eraseToAnyPublisher() }),
    (
      "delayed on a queue",
      { loop, queue in
        ticks(loop).flatMap { Just($0).delay(for: .milliseconds(3), scheduler: queue) }.eraseToAnyPublisher()
      }
    ),
    (
      "one value, delayed",
      { loop, queue in
        Just(1).delay(for: .milliseconds(300), scheduler: queue).append(Empty(completeImmediately: false))
          .eraseToAnyPublisher()
      }
    ),
    ("in tasks", { loop, _ in ticks(loop).mapAsync(limit: 2) { $0 }.eraseToAnyPublisher() }),
  ]

  @Test(arguments: streams.map(\.name))
  func `a stream that is cancelled on another thread after its loop was closed is released`(
    _ name: String
  ) async throws {
    let make = try #require(Self.streams.first { $0.name == name }).make
    let thread = try EventLoopThread()
    nonisolated(unsafe) var subscription: AnyCancellable?
    nonisolated(unsafe) weak var left: Witness?
    let queue = DispatchQueue(label: "queue")
    await withUnsafeContinuation { ready in
      thread.loop.execute {
        let witness = Witness()
        left = witness
        subscription = make(thread.loop, queue).sink { _ in withExtendedLifetime(witness) {} }
        ready.resume()
      }
    }
    try await Task.sleep(for: .milliseconds(3))
    thread.shutdown()
    #expect(subscription != nil)
    subscription = nil
    let limit = Date(timeIntervalSinceNow: 60)
    while left != nil, Date() < limit { try await Task.sleep(for: .milliseconds(1)) }
    #expect(left == nil)
  }
}
