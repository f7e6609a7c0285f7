import Dispatch
import FeedStream
import Foundation
import TestSupport
import Testing

/// Operators with a state, in streams without a loop: values arrive on one thread while another requests more. The
/// thread sanitizer reports what these tests may miss.
@Suite("Stages between two threads", .settled) struct StagesBetweenThreadsTests {
  typealias Stream = @Sendable (AnyPublisher<Int, Never>) -> AnyPublisher<Int, Never>

  /// Operators that pass on all of their 60 values, in order.
  static let operators: [(name: String, stream: Stream)] = [
    ("tryMap", { $0.tryMap { $0 }.replaceError(with: -1).eraseToAnyPublisher() }),
    ("removeDuplicates", { $0.removeDuplicates().eraseToAnyPublisher() }),
    ("distinct", { $0.distinct().eraseToAnyPublisher() }),
    ("drop(while:)", { $0.drop { $0 < 0 }.eraseToAnyPublisher() }),
    ("dropFirst", { $0.dropFirst(0).eraseToAnyPublisher() }),
    ("prefix", { $0.prefix(60).eraseToAnyPublisher() }),
    ("prefix(while:)", { $0.prefix { $0 < 60 }.eraseToAnyPublisher() }),
    ("takeLast", { $0.takeLast(60).eraseToAnyPublisher() }),
    ("replaceEmpty", { $0.replaceEmpty(with: 7).eraseToAnyPublisher() }),
    ("collect", { $0.collect().flatMap(\.publisher).eraseToAnyPublisher() }),
    ("collect(3)", { $0.collect(3).concatMap(\.publisher).eraseToAnyPublisher() }),
    ("materialize", { $0.materialize().dematerialize().eraseToAnyPublisher() }),
    ("handleEvents", { $0.handleEvents(receiveOutput: { _ in }).eraseToAnyPublisher() }),
    ("onBackpressureLatest", { $0.onBackpressureLatest().prefix(1).collect().map(\.count).eraseToAnyPublisher() }),
    ("measureInterval", { $0.measureInterval(using: ImmediateScheduler.shared).count().eraseToAnyPublisher() }),
    ("groupBy", { $0.groupBy { _ in 0 }.flatMap { $0 }.eraseToAnyPublisher() }),
  ]

  @Test(arguments: operators.map(\.name)) func `a stage above a queue`(_ name: String) async throws {
    for _ in 0..<20 {
      let stream = try #require(Self.operators.first { $0.name == name }).stream
      let values = await values {
        stream(Numbers(60).eraseToAnyPublisher()).receive(on: DispatchQueue(label: "requests"))
          .flatMap(maxPublishers: .max(2)) { Just($0) }
      }
      check(values, name)
    }
  }

  @Test(arguments: operators.map(\.name)) func `a stage above a join whose publishers deliver elsewhere`(
    _ name: String
  ) async throws {
    for _ in 0..<20 {
      let stream = try #require(Self.operators.first { $0.name == name }).stream
      let values = await values {
        stream(Numbers(30).append(Numbers(30).map { $0 + 30 }).eraseToAnyPublisher())
          .flatMap(maxPublishers: .max(1)) { Just($0).receive(on: DispatchQueue.global()) }
      }
      check(values, name)
    }
  }

  private func check(_ values: [Int], _ name: String) {
    switch name {
    case "onBackpressureLatest": #expect(values == [1])
    case "measureInterval": #expect(values == [60])
    default: #expect(values == Array(0..<60))
    }
  }

  @Test func `groups that cross to a queue deliver all values`() async {
    for _ in 0..<20 {
      let values = await values {
        (0..<300).publisher.groupBy { $0 % 3 }.flatMap { $0.receive(on: DispatchQueue.global()) }
      }
      #expect(values.sorted() == Array(0..<300))
    }
  }

  @Test func `groups of a join deliver all values, one at a time`() async {
    for _ in 0..<20 {
      let values = await values {
        Numbers(100).merge(with: Numbers(100)).groupBy { $0 % 3 }.flatMap { group in
          group.flatMap(maxPublishers: .max(1)) { Just($0).receive(on: DispatchQueue.global()) }
        }
      }
      #expect(values.sorted() == (0..<100).flatMap { [$0, $0] })
    }
  }

  /// Streams of publishers that other threads subscribe to: each delivers 300 values.
  static let divided: [(name: String, stream: Stream)] = [
    (
      "groups on a queue",
      { $0.groupBy { $0 % 3 }.receive(on: DispatchQueue.global()).flatMap { $0 }.eraseToAnyPublisher() }
    ),
    (
      "groups on queues",
      {
        $0.groupBy { $0 % 3 }.receive(on: DispatchQueue.global()).flatMap { $0.receive(on: DispatchQueue.global()) }
          .eraseToAnyPublisher()
      }
    ),
    ("windows on a queue", { $0.window(7).receive(on: DispatchQueue.global()).flatMap { $0 }.eraseToAnyPublisher() }),
    (
      "windows on queues, one at a time",
      {
        $0.window(7).flatMap(maxPublishers: .max(1)) { $0.receive(on: DispatchQueue.global()) }.eraseToAnyPublisher()
      }
    ),
    (
      "windows by time",
      {
        $0.window(for: .milliseconds(1), scheduler: DispatchQueue.global()).receive(on: DispatchQueue.global()).flatMap
        { $0 }
        .eraseToAnyPublisher()
      }
    ),
    (
      "counted windows",
      {
        $0.window(7).map { $0.collect() }.receive(on: DispatchQueue.global()).flatMap { $0 }.flatMap(\.publisher)
          .eraseToAnyPublisher()
      }
    ),
  ]

  @Test(arguments: divided.map(\.name), [false, true])
  func `the parts of a stream that another thread subscribes to deliver all values`(
    _ name: String, _ isOnLoop: Bool
  ) async throws {
    for _ in 0..<20 {
      let stream = try #require(Self.divided.first { $0.name == name }).stream
      for source in [(0..<300).publisher.eraseToAnyPublisher(), Numbers(300).eraseToAnyPublisher()] {
        nonisolated(unsafe) let source = source
        let values = await values(onLoop: isOnLoop) { stream(source) }
        #expect(values.sorted() == Array(0..<300))
      }
    }
  }

  @Test func `a group that is cancelled on a queue leaves the values of other groups alone`() async {
    for _ in 0..<20 {
      let values = await values {
        Numbers(300).groupBy { $0 % 3 }.receive(on: DispatchQueue.global()).flatMap { group in
          group.prefix(group.key == 0 ? 5 : .max)
        }
      }
      #expect(values.count { $0 % 3 == 1 } == 100)
      #expect(values.count { $0 % 3 == 2 } == 100)
    }
  }

  /// The values of a stream, which is subscribed to on a new thread: on a loop, or without one.
  private func values<P: Publisher<Int, Never> & SendableMetatype>(
    onLoop isOnLoop: Bool = false, _ make: @escaping @Sendable () -> P
  ) async -> [Int] {
    await withUnsafeContinuation { continuation in
      Thread.detachNewThread {
        let loop = isOnLoop ? EventLoop() : nil
        let finished = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var values: [Int] = []
        let subscription = make().sink { _ in
          finished.signal()
          if let loop { loop.execute { loop.stop() } }
        } receiveValue: {
          values.append($0)
        }
        loop?.run(.untilStopped)
        withExtendedLifetime(subscription) { finished.wait() }
        continuation.resume(returning: values)
      }
    }
  }
}
