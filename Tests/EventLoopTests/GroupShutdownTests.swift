import FeedStream
import Synchronization
import TestSupport
import Testing

/// Each test runs in its own process, because dropped values are reported for the whole process.
@Suite("A group that is shut down ends the streams that use it", .settled) struct GroupShutdownTests {
  private enum Kind: CaseIterable { case parallelMap, asCompleted, parallel, parallelMapOfFew, parallelOfFew }

  /// The values that a stream has taken, delivered and reported as dropped after its group was shut down in the middle.
  private static func counts(
    _ kind: Kind, of count: Int
  ) throws -> (taken: Int, delivered: Int, dropped: Int, ends: Int) {
    let dropped = Atomic(0)
    StreamDiagnostics.onDrop { _ in dropped.add(1, ordering: .relaxed) }
    let (loop, group) = (EventLoop(), try EventLoopGroup(count: 3))
    var (taken, delivered, ends) = (0, 0, 0)
    let numbers = (0..<count).publisher.handleEvents(receiveOutput: { _ in taken += 1 })
    let work = { @Sendable (number: Int) in
      var sum = number
      for step in 0..<20_000 { sum &+= step &* sum }
      return sum
    }
    let results =
      switch kind {
      case .parallelMap: numbers.parallelMap(on: group, work).eraseToAnyPublisher()
      case .asCompleted: numbers.parallelMap(on: group, ordering: .asCompleted, work).eraseToAnyPublisher()
      case .parallel: numbers.parallel(on: group) { $0.map(work) }.eraseToAnyPublisher()
      case .parallelMapOfFew: numbers.parallelMap(on: group, limit: 3, work).eraseToAnyPublisher()
      case .parallelOfFew: numbers.parallel(on: group, limit: 4) { $0.map(work) }.eraseToAnyPublisher()
      }
    let sink = results.sink { _ in
      ends += 1
    } receiveValue: { _ in
      delivered += 1
      if delivered == 100 { group.shutdown() }
    }
    loop.run()
    sink.cancel()
    return (taken, delivered, dropped.load(ordering: .relaxed), ends)
  }

  /// Loops may be closed at any point of the work.
  @Test func `however few values are in work, the stream finishes before its loop returns`() async {
    await #expect(processExitsWith: .success) {
      StreamDiagnostics.onDrop { _ in }
      let loop = EventLoop()
      for round in 0..<200 {
        let group = try EventLoopGroup(count: 2)
        nonisolated(unsafe) var ends = 0
        let numbers = (0..<700).publisher
        let results =
          round % 2 == 0
          ? numbers.parallel(on: group, limit: 4) { $0.map { $0 + 1 } }.eraseToAnyPublisher()
          : numbers.parallelMap(on: group, limit: 3) { $0 + 1 }.eraseToAnyPublisher()
        let sink = results.sink(receiveCompletion: { _ in ends += 1 }, receiveValue: { _ in })
        let closer = try EventLoopThread()
        closer.loop.execute { _ = closer.loop.once(after: .microseconds(round * 37 % 900)) { group.shutdown() } }
        loop.run()
        #expect(ends == 1, "round \(round)")
        sink.cancel()
        closer.shutdown()
      }
    }
  }

  @Test func `a loop runs until pipelines that take one value at a time have taken them all`() async {
    await #expect(processExitsWith: .success) {
      let (loop, group) = (EventLoop(), try EventLoopGroup(count: 2))
      var (values, ends) = (0, 0)
      let sink = (0..<20).publisher.parallel(on: group, limit: 4) { numbers in
        numbers.flatMap(maxPublishers: .max(1)) {
          Just($0).delay(for: .milliseconds(1), scheduler: EventLoop.current ?? group.loops[0])
        }
      }
      .sink { _ in
        ends += 1
      } receiveValue: { _ in
        values += 1
      }
      loop.run()
      #expect(values == 20 && ends == 1)
      sink.cancel()
    }
  }

  /// Requests values one by one in its results, and keeps no subscription.
  private final class Forgetful: Subscriber, Sendable {
    let values = Atomic(0)
    let ended: @Sendable () -> Void

    init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }

    func receive(subscription: any Subscription) { subscription.request(.max(1)) }
    func receive(_ input: Int) -> Subscribers.Demand {
      values.add(1, ordering: .relaxed)
      return .max(1)
    }
    func receive(completion: Subscribers.Completion<Never>) { ended() }
  }

  @Test func `parallel completes for a subscriber that doesn't keep its subscription`() async throws {
    let group = try EventLoopGroup(count: 2)
    for _ in 0..<100 {
      let values = await withCheckedContinuation { continuation in
        let kept = Locked<Forgetful?>(nil)
        let subscriber = Forgetful {
          continuation.resume(returning: kept.withLock { $0.take() }?.values.load(ordering: .relaxed))
        }
        kept.withLock { $0 = subscriber }
        (0..<20).publisher.parallel(on: group, limit: 4) { $0.map { $0 + 1 } }.subscribe(subscriber)
      }
      #expect(values == 20)
    }
    group.shutdown()
  }

  private struct Refused: Error {}

  @Test func `upstream's failure ends the stream even if the loops close before the pipelines receive it`() throws {
    let (loop, group) = (EventLoop(), try EventLoopGroup(count: 1))
    let isStopping = Atomic(false)
    let mayReturn = Atomic(false)
    let source = PassthroughSubject<Int, Refused>()
    let outcome = Outcome(source.parallel(on: group) { $0 })
    // In its last turn, the loop waits for the failure, which then arrives too late.
    group.loops[0].execute {
      group.loops[0].stop()
      isStopping.store(true, ordering: .releasing)
      while !mayReturn.load(ordering: .acquiring) {}
    }
    while !isStopping.load(ordering: .acquiring) {}
    source.send(completion: .failure(Refused()))
    mayReturn.store(true, ordering: .releasing)
    loop.run()
    #expect(outcome.error != nil)
    group.shutdown()
  }

  @Test func `values that the loops had left are reported, and the stream finishes`() async {
    await #expect(processExitsWith: .success) {
      for kind in Kind.allCases {
        for count in [500, 20_000] {
          let counts = try Self.counts(kind, of: count)
          #expect(counts.ends == 1 && counts.delivered >= 100, "\(kind) \(count): \(counts)")
          #expect(counts.taken == counts.delivered + counts.dropped, "\(kind) \(count): \(counts)")
        }
      }
    }
  }

  /// Without a loop, the group's own threads run the stream's code.
  @Test func `parallel without a loop delivers each value, in order for each pipeline`() async throws {
    let group = try EventLoopGroup(count: 3)
    for _ in 0..<20 {
      let received = Locked<[(pipeline: Int, value: Int)]>([])
      let pipelines = Atomic(0)
      await withCheckedContinuation { continuation in
        let sink = (0..<3_000).publisher.parallel(on: group, limit: 16) { values in
          let pipeline = pipelines.wrappingAdd(1, ordering: .relaxed).newValue
          return values.map { (pipeline, $0) }
        }
        .sink { _ in
          continuation.resume()
        } receiveValue: { value in
          received.withLock { $0.append(value) }
        }
        received.withLock { _ in Kept.sinks.append(sink) }
      }
      let values = received.withLock { $0 }
      #expect(values.map(\.value).sorted() == Array(0..<3_000))
      for pipeline in 1...3 {
        let part = values.filter { $0.pipeline == pipeline }.map(\.value)
        #expect(part == part.sorted())
      }
    }
    Kept.sinks = []
    group.shutdown()
  }

  /// Not `Sendable`; notes whether the loop's thread releases it.
  private final class Result {
    private let loop: EventLoop
    private let log: Locked<[Bool]>

    init(_ loop: EventLoop, _ log: Locked<[Bool]>) { (self.loop, self.log) = (loop, log) }
    deinit { log.withLock { $0.append(loop.isCurrent) } }
  }

  @Test func `results that aren't Sendable are released where they are delivered`() async throws {
    let group = try EventLoopGroup(count: 2)
    let releases = await onThread {
      let (loop, log) = (EventLoop(), Locked<[Bool]>([]))
      let computed = (0..<2_000).publisher.parallelMap(on: group, limit: 4) { _ in Result(loop, log) }.sink { _ in }
      loop.run()
      let awaited = (0..<200).publisher.mapAsync(limit: 4) { _ in Result(loop, log) }.sink { _ in }
      loop.run()
      for subscription in [computed, awaited] { subscription.cancel() }
      loop.close()
      return log.withLock { $0 }
    }
    group.shutdown()
    #expect(releases == Array(repeating: true, count: 2_200))
  }

  private enum Kept {
    // Used by one test, which waits for each stream in turn.
    nonisolated(unsafe) static var sinks: [AnyCancellable] = []
  }
}
