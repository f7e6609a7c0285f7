import FeedFleet
import FeedFormats
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import FeedPolling

@Suite(.settled) struct FleetRecordTests {
  @Test func `a record decodes to what was encoded`() throws {
    let address = URL(feed: 1)
    var health = FeedHealth(address: address)
    (health.due, health.notBefore, health.interval) = (Date(timeIntervalSince1970: 1000.5), .distantFuture, 900)
    (health.rule, health.reason) = (.retryAfter, "the server \"asks\"\n\u{0}")
    (health.asked, health.askedForAll) = (Date(timeIntervalSince1970: 1), Date(timeIntervalSince1970: 2))
    (health.succeeded, health.changed, health.changeInterval) = (nil, Date(timeIntervalSince1970: 3), 12)
    (health.failures, health.outcome, health.isGone, health.polls) = (3, "status 410", true, 17)
    health.hints.minutesToLive = 5
    health.move = .init(to: URL(feed: 2), since: Date(timeIntervalSince1970: 4), isBelieved: true)
    health.move?.isFromPrivateNetwork = true
    var record = FeedRecord(health: health)
    record.validators = FeedValidators(
      etag: "W/\"x\"", lastModified: "Mon", source: URL(feed: 3), digest: BodyDigest(value: .max),
      wholeAsked: Date(timeIntervalSince1970: 5))
    (record.imageCount, record.digest, record.isFromPrivateNetwork) = (7, .max, true)
    for number in 0..<5 {
      record.note(
        PollDecision(
          time: Date(timeIntervalSince1970: Double(number)), request: number == 4 ? "changes" : "the whole feed",
          outcome: "\(number)", due: number == 3 ? nil : Date(timeIntervalSince1970: 9), rule: .interval, reason: "r"))
    }
    #expect(record.decisions.map(\.outcome) == ["2", "3", "4"])
    #expect(FeedRecord(record.text, of: address) == record)
    #expect(FeedRecord("", of: address) == nil && FeedRecord("[]", of: address) == nil)
    let fresh = FeedRecord(health: FeedHealth(address: address))
    #expect(FeedRecord(fresh.text, of: address) == fresh)
  }

  @Test(arguments: [Int64.min, -1, .max])
  func `a decoded record's numbers are clamped to their bounds`(_ number: Int64) throws {
    let names = ["d", "n", "a", "aa", "s", "c", "ww", "f", "p", "nn"]
    let text = "{" + names.map { "\"\($0)\":\(number)" }.joined(separator: ",") + ",\"i\":1e308,\"cc\":-1e308}"
    let record = try #require(FeedRecord(text, of: URL(feed: 1)))
    #expect((0...(1 << 40)).contains(record.health.failures) && record.imageCount >= 0)
    #expect(record.health.interval == 3_155_760_000 && record.health.changeInterval == 0)
    #expect(FeedRecord(record.text, of: URL(feed: 1)) == record)
    #expect(FeedVersion(Date(timeIntervalSince1970: Double(number) * 1e3)).date.timeIntervalSince1970 < 3e11)
  }

  @Test func `images decode to what was encoded, and damage is detected`() throws {
    let images = FeedImages([
      FeedImage(
        id: UUID(), description: "a\u{301}\n", location: nil, url: URL(string: "https://x.example/1.jpg?a=%20")!,
        published: Date(timeIntervalSince1970: 5)),
      FeedImage(id: UUID(), description: nil, location: "", url: URL(string: "http://[::1]/")!),
    ])
    let bytes = images.bytes
    #expect(bytes.withUnsafeBytes { FeedImages(bytes: $0) } == images)
    #expect(FeedImages([]).bytes.withUnsafeBytes { FeedImages(bytes: $0) } == FeedImages([]))
    for length in 0..<bytes.count {
      #expect(bytes.prefix(length).withUnsafeBytes { FeedImages(bytes: $0) } == nil, "\(length) bytes")
    }
    for place in bytes.indices {
      var damaged = bytes
      damaged[place] ^= 0x10
      #expect(damaged.withUnsafeBytes { FeedImages(bytes: $0) } == nil, "byte \(place)")
    }
    #expect(FeedImages.digest(in: bytes) == FeedImages.digest(in: images.bytes))
  }

  @Test func `the number of items without an image is encoded, but isn't part of the digest`() throws {
    let image = "<enclosure url='http://a/s.png' type='image/png'/>"
    func images(_ items: String) throws -> FeedImages {
      let body = Data("<rss><channel><title>T</title><item><guid>1</guid>\(image)</item>\(items)</channel></rss>".utf8)
      return try SyndicationFormat().images(of: WebDocument(body: body, url: URL(feed: 1)), within: FeedLimits())
    }
    let (some, none) = (try images("<item/><item/>"), try images(""))
    let read = some.bytes.withUnsafeBytes { FeedImages(bytes: $0) }
    #expect(read == some && read?.omittedItems == 2 && read?.title == "T")
    #expect(none.bytes.withUnsafeBytes { FeedImages(bytes: $0) }?.omittedItems == 0)
    #expect(FeedImages.digest(in: some.bytes) == FeedImages.digest(in: none.bytes))
    #expect(some.bytes.dropLast(3).withUnsafeBytes { FeedImages(bytes: $0) } == nil)
  }
}
