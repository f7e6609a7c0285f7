import FeedFleet
import FeedHTTP
import FeedStream
import Foundation
import RedisTestSupport
import TestSupport
import Testing

@testable import FeedPolling
@testable import HTTPTestSupport
@testable import ImageFeed

/// A fleet, too, records whether a feed came from a private network, because the feed's URLs may lead into one only
/// then.
@Suite(.settled, .timeLimit(.minutes(5))) struct FleetMarkTests {
  @Test func `a feed saved by a worker records whether it came from a private network`() throws {
    let body = Data(
      """
      {"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "image": "https://a.example/1.png"}]}
      """.utf8)
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], body) }
    defer { origin.stop() }
    for engine in Engine.allCases {
      let fleet = try FleetUnderTest(engine)
      let address = origin.url()
      #expect(try fleet.wait(fleet.queue.add([NewFeed(address)])) == 1)
      var configuration = CurlHTTPClient.Configuration()
      configuration.usesProxies = false
      let worker = FleetWorker(fleet.queue, client: CurlHTTPClient(on: fleet.loop, configuration), on: fleet.loop)
      let report = try fleet.wait(worker.first().setFailureType(to: FleetError.self).eraseToAnyPublisher())
      #expect(report.outcome == .changed)
      #expect(try fleet.feed(address)?.images?.isFromPrivateNetwork == true, "\(engine)")
      fleet.end()
      fleet.loop.run()
    }
  }

  @Test func `only a changed document updates whether the feed came from a private network`() throws {
    let address = URL(feed: 1)
    let images = FeedImages([FeedImage(id: UUID(), url: URL(feed: 2))])
    var record = FeedRecord(health: FeedHealth(address: address))
    record.digest = FeedImages.digest(in: images.bytes)
    func completion(_ before: Bool?, _ after: Bool?, isWhole: Bool = true) -> WorkCompletion {
      record.isFromPrivateNetwork = before
      let lease = WorkLease(
        host: "a.example", nonce: "n", address: address, due: Date(), version: FeedVersion(microseconds: 1),
        record: record)
      let feed = CachedFeed(images.marked(isFromPrivateNetwork: after), timestamp: Date(timeIntervalSince1970: 9))
      let health = FeedHealth(address: address)
      let decision = PollDecision(
        time: feed.timestamp, request: "the whole feed", outcome: "", due: nil, rule: .interval, reason: "")
      let granted = PollLease(feed: health, host: "a.example", saved: FeedValidators(), since: FeedValidators())
      let renewal = FeedRenewal(timestamp: feed.timestamp, since: FeedValidators(), validators: FeedValidators())
      let polled = PollCompletion(of: granted, isWhole ? .replacement(feed) : .renewal(renewal), now: feed.timestamp) {
        _ in PollRecord(feed: health, host: HostHealth(name: "a.example"), decision: decision, outcome: .unchanged)
      }
      return WorkCompletion(FeedPoll.Outcome(completion: polled), of: lease, by: "w", gap: .zero)
    }
    #expect(completion(nil, true).record.isFromPrivateNetwork == true)
    #expect(completion(nil, true).document == nil)
    #expect(completion(true, true).document == nil)
    // Gateways must learn when the same images come from another kind of network.
    #expect(completion(true, false).document != nil && completion(true, false).record.isFromPrivateNetwork == false)
    #expect(completion(true, nil).document != nil && completion(true, nil).record.isFromPrivateNetwork == nil)
    #expect(completion(true, nil, isWhole: false).record.isFromPrivateNetwork == true)
  }

  @Test func `RedisFeedStore saves whether a feed came from a private network`() throws {
    let server = try RedisServer()
    let store = try RedisFeedStore(server.address)
    defer { store.close() }
    let images = FeedImages([FeedImage(id: UUID(), url: URL(feed: 2))])
    for (seconds, mark) in [(1.0, true), (2, false), (3, nil)] as [(Double, Bool?)] {
      let date = Date(timeIntervalSince1970: 1_700_000_000 + seconds)
      _ = try store.replace(
        for: URL(feed: 1), with: CachedFeed(images.marked(isFromPrivateNetwork: mark), timestamp: date), now: date)
      #expect(try store.retrieve(for: URL(feed: 1))?.images.isFromPrivateNetwork == mark)
    }
  }
}
