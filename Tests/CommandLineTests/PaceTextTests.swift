import FeedPolling
import Foundation
import TestSupport
import Testing

@testable import feed

/// The text of `feed explain` for a host with a pace.
@Suite(.settled) struct PaceTextTests {
  private static let now = Date(timeIntervalSince1970: 1_750_000_000)

  private static var explanation: FeedExplanation {
    let address = URL(string: "https://a.example/feed")!
    var host = HostHealth(name: "a.example")
    var pace = HostPace()
    (pace.gap, pace.refusals) = (61.4, 3)
    (pace.quota, pace.quotaAt) = (RequestQuota(remaining: 4, resetsAfter: 90, limit: 100, window: 600), Self.now)
    host.pace = pace
    return FeedExplanation(
      address: address, saved: nil, health: FeedHealth(address: address), host: host, decisions: [])
  }

  @Test func `explain's text says how often a host may be requested, and why`() {
    let text = ExplanationText(style: .plain, now: Self.now).text(of: Self.explanation)
    #expect(
      text.contains(
        "  pace:   a.example gets one request every 61 seconds, because it refused more frequent ones (3 refusals)\n")
    )
    #expect(
      text.contains(
        "  pace:   a.example says that it allows 100 requests in 10 minutes, and that 4 were left for the next 90 seconds "
          + "(RateLimit), as of 2025-06-15"), "\(text)")
  }

  @Test func `explain's JSON has the numbers of the host's pace`() throws {
    let line = ExplanationJSON.line(Self.explanation, now: Self.now)
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    let host = try #require(object["host"] as? [String: Any])
    #expect(host["secondsBetweenRequests"] as? Double == 61.4 && host["refusals"] as? Int == 3)
    #expect(host["requestsLeft"] as? Double == 4 && host["requestLimit"] as? Double == 100)
  }
}
