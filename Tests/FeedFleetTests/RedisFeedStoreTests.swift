import FeedPolling
import FeedRedis
import FeedStream
import Foundation
import ImageFeed
import RedisTestSupport
import TestSupport
import Testing

@testable import FeedFleet

/// A fleet's saved feeds as a store.
@Suite(.settled, .timeLimit(.minutes(5))) struct RedisFeedStoreTests {
  @Test func `a store doesn't overwrite a poll that saved no new version`() throws {
    let fleet = try FleetUnderTest(.redis)
    let redis = try #require(fleet.queue as? RedisFleet)
    _ = try fleet.wait(redis.add([NewFeed(URL(feed: 1))]))
    try fleet.pass(.milliseconds(5))
    let lease = try #require(try fleet.claim().first)
    _ = try fleet.wait(redis.complete(lease.completion("one", due: Date() - 1)))
    let old = try fleet.wait(redis.saved([URL(feed: 1)], withImages: false))[0]
    var new = try #require(old.feed)
    new.version = FeedVersion(microseconds: 2_000_000_000)
    // A poll that fails changes the record, but not the version.
    let next = try #require(try fleet.claim().first)
    _ = try fleet.wait(redis.complete(next.completion()))
    #expect(try !fleet.wait(redis.replace(old, by: new)))
    #expect(try fleet.feed(URL(feed: 1))?.record.health.outcome == "failed")
    let latest = try fleet.wait(redis.saved([URL(feed: 1)], withImages: false))[0]
    #expect(try fleet.wait(redis.replace(latest, by: new)))
    fleet.end()
    fleet.loop.run()
  }

  @Test func `put overwrites a poll that saves no new version meanwhile`() throws {
    let fleet = try FleetUnderTest(.redis)
    let redis = try #require(fleet.queue as? RedisFleet)
    _ = try fleet.wait(redis.add([NewFeed(URL(feed: 1))]))
    try fleet.pass(.milliseconds(5))
    let lease = try #require(try fleet.claim().first)
    let feed = FleetFeed(
      address: URL(feed: 1), record: FeedRecord(health: FeedHealth(address: URL(feed: 1))),
      version: FeedVersion(microseconds: 1), document: Chunk("{}"))
    // The poll completes between the read and the write, which are two commands.
    let (isSaved, _) = try fleet.wait(redis.put(feed).zip(redis.complete(lease.completion())).eraseToAnyPublisher())
    #expect(isSaved)
    #expect(try fleet.feed(URL(feed: 1))?.version == feed.version)
    fleet.end()
    fleet.loop.run()
  }

  @Test func `summaries reads more feeds than commands may wait`() throws {
    let server = try RedisServer()
    var options = RedisClient.Options()
    options.maxWaiting = 2000
    let store = try RedisFeedStore(server.address, options: options)
    defer { store.close() }
    let date = Date(timeIntervalSince1970: 1_700_000_000)
    _ = try store.replace(for: URL(feed: 0), with: CachedFeed(images: [], timestamp: date), now: date)
    try server.cli(
      "EVAL", "for i = 1, 4999 do redis.call('HSET', 'fs{0}:f:https://a.example/' .. i, 'v', i, 'm', '{}') end", "0")
    #expect(try store.summaries().count == 5000)
  }

  @Test func `a cluster node without the fleet's keys can't reply for the node that has them`() throws {
    try withFleet(.redis, adding: [URL(feed: 1)]) { fleet in
      let redis = try #require(fleet.queue as? RedisFleet)
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(redis.complete(lease.completion("one")))
      var names: Set<String> = []
      redis.client.onReply = { names.insert($0.name) }
      #expect(try fleet.wait(redis.savedFeeds().collect().eraseToAnyPublisher()).joined().count == 1)
      #expect(try fleet.wait(redis.facts()).policy == "noeviction")
      redis.client.onReply = nil
      // Each of these but SCRIPT has a key, so that another node refuses it.
      #expect(names == ["SCRIPT", "EVALSHA", "HMGET"])
    }
  }

  @Test func `a listing starts over when the connection changes, which may be to another server`() throws {
    try withFleet(.redis, adding: [URL(feed: 1)]) { fleet in
      let redis = try #require(fleet.queue as? RedisFleet)
      var cursors: [String] = []
      let names = redis.names { cursor -> AnyPublisher<RedisFleet.NamePage, FleetError> in
        cursors.append(cursor)
        let page = RedisFleet.NamePage(next: cursor == "0" ? "5" : nil, names: [cursor == "0" ? "a" : "b"])
        guard cursors.count == 2 else { return Just(page).setFailureType(to: FleetError.self).eraseToAnyPublisher() }
        return redis.client.send(RedisCommand("QUIT"))
          .flatMap { _ in redis.client.send(RedisCommand("PING")).retry(3) }
          .mapError { redis.failure($0) }
          .map { _ in page }
          .eraseToAnyPublisher()
      }
      #expect(try fleet.wait(names.collect().eraseToAnyPublisher()) == [["a"], ["b"], ["a"], ["b"]])
      #expect(cursors == ["0", "5", "0", "5"])
    }
  }

  @Test func `a feed without a version doesn't replace the record of a saved one`() throws {
    let address = URL(feed: 1)
    try withFleet(.redis, adding: [address]) { fleet in
      let redis = try #require(fleet.queue as? RedisFleet)
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(redis.complete(lease.completion("one")))
      let empty = FleetFeed(
        address: address, record: FeedRecord(health: FeedHealth(address: address)), version: nil, document: nil)
      #expect(try fleet.wait(redis.put(empty)) == false)
      #expect(try fleet.feed(address)?.record.health.outcome == "one")
    }
  }
}
