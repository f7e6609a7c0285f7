import FeedFleet
import FeedRedis
import FeedStream
import Foundation
import ImageFeed
import RedisTestSupport
import TestSupport
import Testing

/// A server that refuses commands never counts as an empty one.
@Suite(.settled, .timeLimit(.minutes(5))) struct RefusalTests {
  private let a = URL(feed: 1)
  private let other = URL(feed: 1, host: "b.example")

  private func withFleet(_ body: (FleetUnderTest, RedisFleet, RedisServer) throws -> Void) throws {
    let fleet = try FleetUnderTest(.redis)
    let redis = try #require(fleet.queue as? RedisFleet)
    #expect(try fleet.wait(redis.add([NewFeed(a), NewFeed(other)])) == 2)
    try fleet.pass(.milliseconds(5))
    let server = try #require(fleet.server)
    try body(fleet, redis, server)
    fleet.end()
    fleet.loop.run()
  }

  /// Everything that a fleet reads, each with the server's command that it needs.
  private func readings(_ fleet: RedisFleet) -> [(command: String, call: AnyPublisher<Void, FleetError>)] {
    func reading<Value>(_ command: String, _ call: AnyPublisher<Value, FleetError>) -> (
      String, AnyPublisher<Void, FleetError>
    ) { (command, call.map { _ in }.eraseToAnyPublisher()) }
    return [
      reading("hmget", fleet.feeds([a], withImages: true)), reading("zscan", fleet.addresses()),
      reading("zrange", fleet.addresses()), reading("xrevrange", fleet.latest(5)), reading("exists", fleet.end()),
      reading("exists", fleet.hasFeeds(on: "a.example")), reading("xrange", fleet.holds(UpdateCursor("0-0"))),
      reading("zscore", fleet.explanation(of: a)), reading("zrangebyscore", fleet.status()),
      reading("xread", fleet.updates(after: UpdateCursor("0-0"))),
      reading("zrange", fleet.claim(WorkClaim(worker: "w", count: 1, lease: .seconds(1)))),
      reading("xadd", fleet.append(FeedUpdate(address: a, version: FeedVersion(microseconds: 1)))),
    ]
  }

  @Test func `a refused command is a failure, not an empty result`() throws {
    try withFleet { fleet, redis, server in
      for (command, call) in readings(redis) {
        try server.cli("ACL", "SETUSER", "default", "-\(command)")
        #expect(throws: FleetError.self, "\(command)") { try fleet.wait(call) }
        try server.cli("ACL", "SETUSER", "default", "+@all")
      }
      // Only the server's information about itself may be missing.
      try server.cli("ACL", "SETUSER", "default", "-info")
      #expect(try fleet.wait(redis.status()).feeds == 2)
    }
  }

  @Test func `a completion that may not read the log's end is refused as a whole, and can be repeated`() throws {
    try withFleet { fleet, redis, server in
      _ = try fleet.wait(redis.append(FeedUpdate(address: other, version: FeedVersion(microseconds: 1))))
      let completion = try #require(try fleet.claim(1).first).completion("one")
      try server.cli("ACL", "SETUSER", "default", "-xinfo")
      #expect(throws: FleetError.self) { try fleet.wait(redis.complete(completion)) }
      #expect(try fleet.feed(completion.lease.address)?.version == nil)
      try server.cli("ACL", "SETUSER", "default", "+@all")
      guard case .accepted(_?) = try fleet.wait(redis.complete(completion)) else {
        Issue.record("not accepted with an update")
        return
      }
    }
  }

  @Test func `an entry of the log that another program has written doesn't count as a missed update`() throws {
    try withFleet { fleet, redis, server in
      let first = try fleet.wait(redis.append(FeedUpdate(address: a, version: FeedVersion(microseconds: 1))))
      try server.cli("XADD", "fs{0}:updates", "*", "x", "y")
      let second = try fleet.wait(redis.append(FeedUpdate(address: a, version: FeedVersion(microseconds: 2))))
      let update = try fleet.wait(redis.updates(after: first).first().eraseToAnyPublisher())
      #expect(update.cursor == second && update.previous == first)
    }
  }

  @Test func `expired pauses are removed, even those of hosts without feeds`() throws {
    try withFleet { fleet, redis, server in
      try fleet.wait(redis.pause("gone.example", for: .milliseconds(1), because: "short"))
      try fleet.wait(redis.pause("kept.example", for: nil, because: "long"))
      try fleet.pass(.milliseconds(5))
      try fleet.wait(redis.beat("w", about: [:]))
      #expect(try server.cli("ZRANGE", "fs{0}:pauses", "0", "-1") == "kept.example")
      #expect(try server.cli("HKEYS", "fs{0}:reasons") == "kept.example")
    }
  }

  @Test(arguments: ["allkeys-lru", "volatile-ttl"])
  func `a server that may evict keys is read, but not written to`(_ policy: String) throws {
    try withFleet { fleet, redis, server in
      try server.cli("CONFIG", "SET", "maxmemory-policy", policy)
      let other = RedisFleet(RedisClient(server.address, on: fleet.loop), creates: true)
      let claim = WorkClaim(worker: "w", count: 1, lease: .seconds(1))
      let refused = FleetError.evicting("\(server.address)", policy: policy)
      #expect(throws: refused) { try fleet.wait(other.claim(claim)) }
      #expect(throws: refused) { try fleet.wait(other.add([NewFeed(URL(feed: 7))])) }
      let feed = FleetFeed(
        address: a, record: FeedRecord(health: FeedHealth(address: a)), version: FeedVersion(microseconds: 1),
        document: nil)
      #expect(throws: refused) { try fleet.wait(other.put(feed)) }
      #expect(!refused.isTemporary && "\(refused)".contains("noeviction"))
      // Existing feeds are reported, and can be exported and removed.
      let status = try fleet.wait(other.status())
      #expect(status.feeds == 2 && status.evictionPolicy == policy)
      #expect(try fleet.wait(other.first(5)) == [a, self.other])
      #expect(try fleet.wait(other.remove(self.other)))
      try server.cli("CONFIG", "SET", "maxmemory-policy", "noeviction")
      #expect(try fleet.wait(other.status()).evictionPolicy == nil)
      #expect(try fleet.wait(other.claim(claim)).leases.map(\.address) == [a])
      other.client.close()
    }
  }

  @Test func `with full memory, adding feeds fails, but removing feeds and pausing hosts works`() throws {
    try withFleet { fleet, redis, server in
      try server.cli("CONFIG", "SET", "maxmemory", "1")
      #expect(throws: FleetError.self) { try fleet.wait(redis.add([NewFeed(URL(feed: 7))])) }
      try fleet.wait(redis.pause("a.example", for: .seconds(60), because: "full"))
      #expect(try fleet.wait(redis.resume("a.example")))
      #expect(try fleet.wait(redis.remove(other)))
      #expect(try fleet.wait(redis.status()).feeds == 1)
    }
  }

  @Test func `an emptied database is reported as not being a fleet`() throws {
    try withFleet { fleet, redis, server in
      let reader = RedisFleet(RedisClient(server.address, on: fleet.loop))
      let end = try fleet.wait(reader.end())
      try server.cli("FLUSHALL")
      for call in [reader.end().map { _ in true }.eraseToAnyPublisher(), reader.holds(end)] {
        #expect(throws: FleetError.noFeeds("\(server.address)")) { try fleet.wait(call) }
      }
      reader.client.close()
    }
  }

  @Test func `a key of the wrong type doesn't keep a gateway from reading the other feeds`() throws {
    try withFleet { fleet, redis, server in
      for lease in try fleet.claim() { _ = try fleet.wait(redis.complete(lease.completion("x"))) }
      try server.cli("SET", "fs{0}:f:\(a)", "x")
      let feeds = try fleet.wait(redis.feeds([a, other], withImages: true))
      #expect(feeds[0] == nil && feeds[1]?.images?.count == 1)
      #expect(try fleet.wait(redis.first(5)) == [a, other])
      try server.cli("SET", "fs{0}:h:a.example", "x")
      #expect(try fleet.wait(redis.first(5)) == [other])
      // A list of all feeds is complete, or fails.
      #expect(throws: FleetError.self) { try fleet.wait(redis.addresses()) }
    }
  }

  @Test func `nothing of a list is added if the key of one of its feeds has the wrong type`() throws {
    try withFleet { fleet, redis, server in
      try server.cli("SET", "fs{0}:f:\(URL(feed: 7))", "x")
      let list = [NewFeed(URL(feed: 1, host: "c.example")), NewFeed(URL(feed: 7))]
      #expect(throws: FleetError.self) { try fleet.wait(redis.add(list)) }
      #expect(try fleet.wait(redis.status()).feeds == 2)
      #expect(try fleet.wait(redis.first(5)) == [a, other])
    }
  }

  @Test func `a list can be added again although the key of a feed that it has added has the wrong type`() throws {
    try withFleet { fleet, redis, server in
      try server.cli("SET", "fs{0}:f:\(a)", "x")
      #expect(try fleet.wait(redis.add([NewFeed(a), NewFeed(URL(feed: 7))])) == 1)
      #expect(try fleet.wait(redis.status()).feeds == 3)
    }
  }

  @Test func `a feed whose key has the wrong type can be removed`() throws {
    try withFleet { fleet, redis, server in
      try server.cli("SET", "fs{0}:f:\(a)", "x")
      #expect(try fleet.wait(redis.remove(a)))
      #expect(try fleet.wait(redis.status()).feeds == 1)
      #expect(try fleet.wait(redis.first(5)) == [other])
    }
  }

  @Test(arguments: ["f:https://a.example/1", "h:a.example"])
  func `a completion whose key has the wrong type changes nothing`(_ key: String) throws {
    try withFleet { fleet, redis, server in
      let lease = try #require(try fleet.claim().first { $0.address == a })
      try server.cli("SET", "fs{0}:\(key)", "x")
      #expect(throws: FleetError.self) { try fleet.wait(redis.complete(lease.completion("x"))) }
      #expect(try server.cli("HEXISTS", "fs{0}:leases", lease.host) == "1")
    }
  }

  @Test(arguments: ["fs{0}:h:a.example", "fs{0}:f:https://a.example/1"])
  func `a key of the wrong type is reported, and only its host isn't polled`(_ key: String) throws {
    try withFleet { fleet, redis, server in
      try server.cli("SET", key, "x")
      let grant = try fleet.wait(redis.claim(WorkClaim(worker: "w", count: 10, lease: .seconds(60))))
      #expect(grant.leases.map(\.host) == ["b.example"])
      #expect(grant.problems.count == 1 && "\(grant.problems)".contains(key), "\(grant.problems)")
      // The damaged host is not requested for a while, and the others continue.
      let next = try fleet.wait(redis.claim(WorkClaim(worker: "w", count: 10, lease: .seconds(60))))
      #expect(next.leases.isEmpty && next.problems.isEmpty)
      #expect(try fleet.wait(redis.status()).feeds == 2)
      // After the key is deleted, the error is gone.
      try server.cli("DEL", key)
      try server.cli("ZADD", "fs{0}:hosts", "0", "a.example")
      let last = try fleet.wait(redis.claim(WorkClaim(worker: "w", count: 10, lease: .seconds(60))))
      #expect(last.problems.isEmpty && last.leases.map(\.host) == (key.contains(":f:") ? ["a.example"] : []))
    }
  }
}
