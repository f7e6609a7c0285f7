import FeedFleet
import FeedRedis
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Idle workers cost an engine little, and the status shows waiting feeds.
@Suite(.settled, .timeLimit(.minutes(5))) struct IdleWorkerTests {
  private let a = URL(feed: 1)

  private func withFleet(_ engine: Engine, _ body: (FleetUnderTest) throws -> Void) throws {
    let fleet = try FleetUnderTest(engine)
    try body(fleet)
    fleet.end()
    fleet.loop.run()
  }

  /// Long, because real time passes, too: the calls of a test must take less than half of it.
  private static let patience = Duration.seconds(10)

  private func claim(_ worker: String, _ fleet: FleetUnderTest) throws -> WorkGrant {
    try fleet.wait(
      fleet.queue.claim(WorkClaim(worker: worker, count: 5, lease: .seconds(60), patience: Self.patience)))
  }

  /// The time when a worker must claim again.
  private func wake(_ worker: String, _ fleet: FleetUnderTest) throws -> Date {
    let grant = try claim(worker, fleet)
    #expect(grant.leases.isEmpty)
    return grant.now + (try #require(grant.wake) / .seconds(1))
  }

  @Test(arguments: [Engine.memory, .redis]) func `idle workers poll in turns, one of them when a host is due`(
    _ engine: Engine
  ) throws {
    try withFleet(engine) { fleet in
      #expect(try fleet.wait(fleet.queue.add([NewFeed(a, after: .seconds(900))])) == 1)
      let times = try (1...4).map { try wake("w\($0)", fleet) }
      for (one, next) in zip(times, times.dropFirst()) {
        #expect(abs(next.timeIntervalSince(one) - 10) < 0.01, "\(times)")
      }
      // The first worker claims again, and moves to the end of the queue.
      try fleet.pass(Self.patience)
      #expect(abs(try wake("w1", fleet).timeIntervalSince(times[3]) - 10) < 0.01)
      // Only the worker whose turn is just before the host's due time wakes for it.
      try fleet.pass(.seconds(875))
      let later = try (1...4).map { try wake("w\($0)", fleet) }
      try fleet.pass(Self.patience)
      let grant = try claim("w1", fleet)
      let (next, wait) = try (#require(grant.next), #require(grant.wake) / .seconds(1))
      #expect(later[0] < next && later[1] > next)
      #expect(abs((grant.now + wait).timeIntervalSince(next)) < 0.01)
    }
  }

  @Test(arguments: [1, 4, 16]) func `the number of calls per poll doesn't depend on the number of workers`(_ count: Int)
  {
    let time = VirtualTimeScheduler()
    time.offloadLatency = .milliseconds(1)
    let network = VirtualNetwork(on: time)
    let engine = MemoryFleet(on: time, latency: .milliseconds(2)) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    let addresses = (0..<600).map { URL(feed: $0, host: "h\($0).example") }
    for address in addresses {
      network.serve(address.host()!) { request, _ in
        .feed([FeedImage(id: UUID(), url: request.request.url)], after: .milliseconds(100))
      }
    }
    var late: [Duration] = []
    let workers = (0..<count).map { number in
      var options = FleetWorker.Options()
      (options.name, options.seed, options.interval) = ("w\(number)", UInt64(number), .seconds(300))
      return FleetWorker(engine, client: network, on: time, options: options).sink { late.append($0.lateness) }
    }
    let adding = engine.add(addresses.enumerated().map { NewFeed($1, after: .milliseconds(500 * $0)) }).sink { _ in
    } receiveValue: { _ in
    }
    time.advance(by: .seconds(600))
    let (calls, polls) = (engine.calls, late.count)
    time.advance(by: .seconds(300))
    let each = Double(engine.calls - calls) / Double(late.count - polls)
    #expect(late.count - polls > 500)
    #expect(each < 3, "\(each) calls a poll by \(count) workers")
    #expect(late.dropFirst(polls).allSatisfy { $0 < .milliseconds(1100) }, "\(late.max()!)")
    adding.cancel()
    for worker in workers { worker.cancel() }
    time.advance(by: .seconds(60))
  }

  @Test(arguments: [Engine.memory, .redis]) func `a feed whose workers die three times in a row is postponed`(
    _ engine: Engine
  ) throws {
    try withFleet(engine) { fleet in
      let b = URL(feed: 2)
      #expect(try fleet.wait(fleet.queue.add([NewFeed(a), NewFeed(b, after: .milliseconds(1))])) == 2)
      try fleet.pass(.milliseconds(5))
      for _ in 0..<3 {
        #expect(try fleet.claim(lease: .seconds(45)).map(\.address) == [a])
        try fleet.pass(.seconds(46))
      }
      let lease = try #require(try fleet.claim().first)
      #expect(lease.address == b, "others of its host go on")
      if let redis = fleet.queue as? RedisFleet {
        let status = try fleet.wait(redis.status())
        #expect(status.abandoned == [a.absoluteString: 3] && status.totals["abandoned"] == 1)
      }
      _ = try fleet.wait(fleet.queue.complete(lease.completion("b", due: nil)))
      #expect(try fleet.claim() == [])
      try fleet.pass(.seconds(3700))
      let last = try fleet.claim().filter { $0.address == a }
      #expect(last.count == 1)
      // A single worker that completes the poll resets the count.
      for lease in last { _ = try fleet.wait(fleet.queue.complete(lease.completion("a", due: Date()))) }
      if let redis = fleet.queue as? RedisFleet { #expect(try fleet.wait(redis.status()).abandoned.isEmpty) }
    }
  }

  @Test func `status counts due feeds whose host is leased, resting or not yet claimed`() throws {
    try withFleet(.redis) { fleet in
      let redis = try #require(fleet.queue as? RedisFleet)
      let many = (0..<60).map { URL(feed: $0) }
      #expect(try fleet.wait(redis.add(many.map { NewFeed($0) })) == 60)
      #expect(try fleet.wait(redis.add([NewFeed(URL(feed: 1, host: "b.example"), after: .seconds(900))])) == 1)
      try fleet.pass(.seconds(30))
      func look() throws -> FleetStatus { try fleet.wait(redis.status()) }
      var status = try look()
      #expect(status.dueFeeds == 60 && status.queuedFeeds == 0 && status.dueHosts == 1)
      let lease = try #require(try fleet.claim().first)
      status = try look()
      #expect(status.dueFeeds == 59 && status.queuedFeeds == 59 && status.dueHosts == 0)
      #expect(abs(status.lateness / .seconds(1) - 30) < 5, "\(status.lateness)")
      #expect(status.queues.map(\.host) == ["a.example"] && status.queues.first?.feeds == 59)
      _ = try fleet.wait(redis.complete(lease.completion("one", due: status.now + 3600, gap: .seconds(5))))
      status = try look()
      #expect(status.dueFeeds == 59 && status.queuedFeeds == 59 && status.totals["changed"] == 1)
      #expect(status.latePolls.upTo.last?.polls == 1 && status.latePolls.upTo.first?.polls == 0)
      try fleet.wait(redis.pause("a.example", for: nil, because: "quiet"))
      #expect(try look().dueFeeds == 0, "a load that a person asks for is not a backlog")
      #expect(try look().clockAhead < .seconds(60))
    }
  }
}
