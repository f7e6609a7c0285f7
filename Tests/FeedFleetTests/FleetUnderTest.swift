import FeedFleet
import FeedRedis
import FeedStream
import Foundation
import ImageFeed
import RedisTestSupport
import Synchronization
import Testing

/// An engine that the specification tests.
enum Engine: String, CaseIterable, CustomTestStringConvertible {
  case memory, redis
  var testDescription: String { rawValue }
}

/// A fleet on an engine, whose calls a test waits for.
final class FleetUnderTest {
  let loop = EventLoop()
  let queue: any WorkQueue
  let log: any UpdateLog
  let library: any FeedLibrary
  let server: RedisServer?
  private let trimming: (Int) throws -> Void
  private let closing: () -> Void
  private let clocks: TestClocks

  init(_ engine: Engine) throws {
    let clocks = TestClocks()
    self.clocks = clocks
    switch engine {
    case .memory:
      let memory = MemoryFleet(on: loop, uptime: { clocks.uptime }, now: { clocks.now })
      (queue, log, library, server) = (memory, memory, memory, nil)
      (trimming, closing) = ({ memory.trim(to: $0) }, {})
    case .redis:
      let server = try RedisServer()
      let redis = RedisFleet(
        RedisClient(server.address, on: loop), creates: true, uptime: { clocks.uptime })
      (queue, log, library, self.server) = (redis, redis, redis, server)
      trimming = { try server.cli("XTRIM", "fs{0}:updates", "MAXLEN", "\($0)") }
      closing = { redis.client.close() }
    }
  }

  /// Forgets all but the latest `count` updates.
  func trim(to count: Int) throws { try trimming(count) }

  /// The first value of a publisher, or its failure.
  func wait<Value>(_ publisher: AnyPublisher<Value, FleetError>) throws -> Value {
    try Self.wait(publisher, on: loop)
  }

  static func wait<Value>(_ publisher: AnyPublisher<Value, FleetError>, on loop: EventLoop) throws -> Value {
    var result: Result<Value, FleetError>?
    var isRunning = false
    let subscription = publisher.sink { [loop] in
      if case .failure(let error) = $0 { result = .failure(error) }
      if isRunning { loop.stop() }
    } receiveValue: {
      result = result ?? .success($0)
    }
    isRunning = true
    if result == nil { loop.run(.untilStopped) }
    subscription.cancel()
    return try #require(result).get()
  }

  /// Advances the time of the engine and of all users by `duration`, without waiting.
  func pass(_ duration: Duration) throws {
    clocks.pass(duration)
    if let server {
      try server.cli("HINCRBYFLOAT", "fs{0}:meta", "clock", "\(duration / .milliseconds(1))")
    }
  }

  /// Sets the clock of the engine forward by `duration`, or back.
  func setClock(by duration: Duration) throws {
    clocks.set(by: duration)
    // A server whose clock was set forward had an earlier time before.
    if let server {
      try server.cli("HINCRBYFLOAT", "fs{0}:meta", "raw", "\(-(duration / .milliseconds(1)))")
    }
  }

  func claim(_ count: Int = 10, lease: Duration = .seconds(60), worker: String = "w") throws -> [WorkLease] {
    try wait(queue.claim(WorkClaim(worker: worker, count: count, lease: lease))).leases
  }

  func feed(_ address: URL) throws -> FleetFeed? { try wait(library.feeds([address], withImages: true))[0] }

  func end() { closing() }
  deinit { end() }
}

extension URL {
  init(feed number: Int, host: String = "a.example") { self.init(string: "https://\(host)/\(number)")! }
}

extension WorkLease {
  /// A completion of this lease with one image called `name`.
  func completion(
    _ name: String? = nil, at seconds: Double = 1000, due: Date? = Date() + 3600, gap: Duration = .zero,
    host: String? = nil, pausedUntil: Date? = nil
  ) -> WorkCompletion {
    var record = self.record
    record.health.outcome = name ?? "failed"
    let images = name.map { name in
      FeedImages([FeedImage(id: UUID(), description: name, url: URL(string: "https://a.example/x.jpg")!)])
    }
    return WorkCompletion(
      lease: self, worker: "w", outcome: name == nil ? .failed : .changed, record: record,
      version: name.map { _ in FeedVersion(microseconds: Int64(seconds * 1e6)) },
      document: images.map { Chunk($0.bytes) }, due: due, host: host, gap: gap, pausedUntil: pausedUntil,
      reason: pausedUntil == nil ? "" : "it wants a pause")
  }
}

/// A wall clock, which may be set, and a clock that is never set.
final class TestClocks: Sendable {
  private let ahead = Mutex((wall: 0.0, uptime: Duration.zero))

  var now: Date { Date() + ahead.withLock { $0.wall } }
  var uptime: Duration { MachineTime.now + ahead.withLock { $0.uptime } }

  func pass(_ duration: Duration) {
    ahead.withLock { $0 = ($0.wall + duration / .seconds(1), $0.uptime + duration) }
  }

  func set(by duration: Duration) { ahead.withLock { $0.wall += duration / .seconds(1) } }
}

/// Runs `body` with a fleet of this engine, which ends with no work left.
func withFleet(
  _ engine: Engine, adding addresses: [URL] = [], _ body: (FleetUnderTest) throws -> Void
) throws {
  let fleet = try FleetUnderTest(engine)
  if !addresses.isEmpty {
    #expect(try fleet.wait(fleet.queue.add(addresses.map { NewFeed($0) })) == addresses.count)
    try fleet.pass(.milliseconds(5))
  }
  try body(fleet)
  fleet.end()
  fleet.loop.run()
}
