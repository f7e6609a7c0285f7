import FeedFormats
import FeedHTTPServer
import FeedPolling
import FeedRedis
import FeedWebSocket
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The page of limits states the defaults of the code.
@Suite(.settled) struct LimitsPageTests {
  private static func mebibytes(_ bytes: Int) -> String { "\(bytes >> 20) MiB" }
  private static func kibibytes(_ bytes: Int) -> String { "\(bytes >> 10) KiB" }
  private static let (feed, hub, redis) = (FeedLimits(), FeedHub.Options(), RedisClient.Options())

  @Test(arguments: [
    ("`SeenQuery.limit`", "\(SeenQuery().limit) in a program"),
    ("`ImageLoader.Options.maxBytes`", mebibytes(ImageLoader.Options().maxBytes)),
    ("`FeedLimits.documentBytes`, `textBytes`", "\(mebibytes(feed.documentBytes)); \(mebibytes(feed.textBytes))"),
    ("`FeedLimits.depth`, `attributes`", "\(feed.depth) each"),
    (
      "`FeedLimits.tagBytes`, `nameBytes`, `doctypeBytes`",
      "\(kibibytes(feed.tagBytes)); \(kibibytes(feed.nameBytes)); \(kibibytes(feed.doctypeBytes))"
    ),
    ("`FeedLimits.items`", "200,000"), ("`FeedLimits.imagesPerItem`", "\(feed.imagesPerItem)"),
    ("`FeedHub.Options.timeout`, `maxRunning`, `retries`", "10 s; \(hub.maxRunning); 6 "),
    ("`RedisClient.Options.maxWaiting`", "100,000"),
    (
      "`RedisClient.Options.limits`",
      "\(mebibytes(redis.limits.stringBytes)); \(kibibytes(redis.limits.lineBytes)); \(redis.limits.depth); 4,000,000"
    ),
    ("`messageBytes`, `frameBytes`", "\(mebibytes(WebSocketLimits().messageBytes)) each"),
    ("`requestLineBytes`", kibibytes(HTTPServerLimits().requestLineBytes)),
  ])
  func `the row of a limit states the option's default`(_ option: String, _ value: String) throws {
    let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../..").standardized
    let page = try String(contentsOf: project.appending(path: "docs/Limits.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains(option) }
    #expect(rows.count == 1)
    for row in rows { #expect(row.contains(value), "\(row)") }
  }

  @Test func `the numbers that the page writes with commas are the options' defaults`() {
    #expect(Self.feed.items == 200_000)
    #expect(Self.redis.maxWaiting == 100_000)
    #expect(Self.redis.limits.values == 4_000_000)
  }
}
