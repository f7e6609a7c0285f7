import FeedHTTP
import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import FeedPolling

/// The results that a poller delivers.
@Suite(.settled) struct PolledResultsTests {
  @Test func `a saved copy after a failure counts as loaded only if another process has saved it since`() {
    var delivered: [LoadSource] = []
    let results = PolledResults {
      if let feed = $0.feed { delivered.append(feed.source) }
      return .none
    }
    results.request(.unlimited)
    func add(_ source: LoadSource) {
      let feed = Feed(images: makeFeed(3).images, source: source)
      results.add(FeedReport(address: address, result: .success(feed)), of: 0)
      results.deliver()
    }
    func copy(_ savedAt: Date, _ reason: RemoteFeedError) -> LoadSource {
      .cache(savedAt: savedAt, age: .seconds(60), reason: reason)
    }
    let failure = RemoteFeedError.connectivity(HTTPError(.connect, host: "example.com", cause: "refused"))
    let notDue = RemoteFeedError.notDue(until: nil, "")
    add(copy(noon, failure))
    // Another process's request has failed, too. Its copy isn't shown, so the next success is.
    add(copy(noon, notDue))
    add(.remote)
    #expect(delivered == [copy(noon, failure), .remote])
    delivered = []
    add(copy(noon, failure))
    add(copy(noon + 60, notDue))
    add(.remote)
    #expect(delivered == [copy(noon, failure), copy(noon + 60, notDue)])
  }
}
