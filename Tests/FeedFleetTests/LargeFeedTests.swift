import FeedFleet
import FeedRedis
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

@testable import FeedPolling

/// A feed that is too large for a fleet fails alone.
@Suite(.settled, .timeLimit(.minutes(5))) struct LargeFeedTests {
  private let a = URL(feed: 1)
  private let b = URL(feed: 2, host: "b.example")

  @Test func `a feed with too many bytes of images fails its poll and isn't saved`() {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    // Relative URLs make the images larger than the document.
    let base = "https://a.example/" + String(repeating: "x", count: 1900) + "/"
    let entries = (0..<18_000).map {
      "<entry><id>\($0)</id><link rel='enclosure' type='image/png' href='\($0)'/></entry>"
    }
    let body = "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='\(base)'>\(entries.joined())</feed>"
    network.serve("a.example") { _, _ in
      .answer(headers: [("Content-Type", "application/atom+xml")], Data(body.utf8))
    }
    let engine = MemoryFleet(on: time) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    var options = FleetWorker.Options()
    options.seed = 1
    var reports: [FleetWorker.Report] = []
    let worker = FleetWorker(engine, client: network, on: time, options: options).sink { reports.append($0) }
    let adding = engine.add([NewFeed(a)]).sink { _ in
    } receiveValue: { _ in
    }
    time.advance(by: .seconds(10))
    #expect(reports.map(\.outcome) == [.failed])
    #expect(reports.first?.decision?.outcome.contains("32 MiB") == true, "\(reports)")
    #expect(engine.feed(a)?.version == nil)
    adding.cancel()
    worker.cancel()
    time.advance(by: .seconds(60))
  }

  @Test func `a saved feed that is too large to be read is read without its images, and others with theirs`() throws {
    try withFleet(.redis, adding: [a, b]) { fleet in
      for lease in try fleet.claim() { _ = try fleet.wait(fleet.queue.complete(lease.completion("one"))) }
      try fleet.server?.cli(
        "EVAL", "redis.call('HSET', KEYS[1], 'd', string.rep('x', 65 * 2^20)) return 1", "1", "fs{0}:f:\(a)")
      let feeds = try fleet.wait(fleet.library.feeds([a, b], withImages: true))
      #expect(feeds[0]?.version != nil && feeds[0]?.document == nil)
      #expect(feeds[1]?.images?.count == 1)
    }
  }

  @Test func `reading a feed takes one command, and reading several sends the script's text once`() throws {
    try withFleet(.redis, adding: [a, b]) { fleet in
      let redis = try #require(fleet.queue as? RedisFleet)
      var commands: [String] = []
      redis.client.onReply = { commands.append($0.name) }
      #expect(try fleet.wait(redis.feeds([a, b, a], withImages: true)).count == 3)
      #expect(commands == ["SCRIPT", "EVALSHA", "EVALSHA", "EVALSHA"])
      commands = []
      _ = try fleet.feed(a)
      #expect(commands == ["EVALSHA"])
    }
  }

  @Test(arguments: Engine.allCases) func `images that are too large are never saved`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      var completion = try #require(try fleet.claim().first).completion("one")
      completion.document = Chunk([UInt8](repeating: 1, count: FleetRules.documentBytes + 1))
      #expect(throws: FleetError.self) { try fleet.wait(fleet.queue.complete(completion)) }
      if let redis = fleet.queue as? RedisFleet {
        let feed = FleetFeed(
          address: a, record: completion.record, version: completion.version, document: completion.document)
        #expect(throws: FleetError.self) { try fleet.wait(redis.put(feed)) }
      }
      #expect(try fleet.feed(a)?.version == nil)
    }
  }
}
