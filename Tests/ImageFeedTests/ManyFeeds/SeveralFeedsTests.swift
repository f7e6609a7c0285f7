import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Several feeds in virtual time: `a.example` … `e.example`, some of which are unreachable.
@Suite(.settled) struct SeveralFeedsTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let store = InMemoryFeedStore()

  init() { network = VirtualNetwork(on: time) }

  private func url(_ name: String) -> URL { URL(string: "http://\(name).example/feed")! }

  private func feeds(_ names: String..., width: Int = ManyFeeds.defaultWidth) -> ManyFeeds {
    let cache = FeedCache(store: store, on: time, now: { noon })
    return ManyFeeds(names.map { FeedLoader(url($0), client: network, cache: cache, on: time) }, width: width)
  }

  private func serve(_ name: String, _ feed: CachedFeed, after delay: StreamInstant.Stride = .milliseconds(10)) {
    network.serve("\(name).example") { _, _ in .answer(FeedPayload.bytes(of: feed.images), after: delay) }
  }

  private func text(_ report: FeedReport) -> String {
    let name = report.address.host!.prefix(1)
    return "\(name) " + (report.feed.map { "\($0.images.count)\($0.source.isRemote ? "" : " saved")" } ?? "failed")
  }

  @Test func `each feed is reported when it arrives, and a failing one hides no other`() throws {
    serve("a", makeFeed(1), after: .seconds(3))
    serve("b", makeFeed(2))
    network.serve("c.example") { _, _ in .answer(status: 500, Data()) }
    network.serve("d.example") { _, _ in .answer(status: 500, Data()) }
    try store.replace(for: url("d"), with: makeFeed(4))
    var (reports, isFinished): ([String], Bool) = ([], false)
    let subscription = feeds("a", "b", "c", "d").load().sink { _ in
      isFinished = true
    } receiveValue: {
      reports.append(text($0))
    }
    time.run()
    #expect(Set(reports) == ["a 1", "b 2", "c failed", "d 4 saved"])
    #expect(reports.last == "a 1")
    #expect(isFinished)
    #expect(try store.retrieve(for: url("a"))?.images.count == 1)
    subscription.cancel()
  }

  @Test func `at most width feeds are loaded at a time`() {
    for name in ["a", "b", "c", "d", "e"] { serve(name, makeFeed(1), after: .seconds(1)) }
    var most = 0
    network.observer = { [network] _ in most = max(most, network.open.count) }
    var reports = 0
    let subscription = feeds("a", "b", "c", "d", "e", width: 2).load().sink { _ in reports += 1 }
    time.run()
    #expect(reports == 5)
    #expect(most == 2)
    subscription.cancel()
  }

  @Test func `each feed has its own timer, and a slow feed delays no other`() {
    serve("a", makeFeed(1), after: .seconds(25))
    var version = 0
    network.serve("b.example") { _, _ in
      version += 1
      return .answer(FeedPayload.bytes(of: makeFeed(version).images), after: .milliseconds(10))
    }
    var reports: [String] = []
    let slow = url("a")
    let subscription = feeds("a", "b").updates { $0 == slow ? .seconds(100) : .seconds(10) }.sink {
      reports.append(text($0))
    }
    time.advance(by: .seconds(24))
    #expect(reports == ["b 1", "b 2", "b 3"])
    time.advance(by: .seconds(2))
    #expect(reports.last == "a 1")
    subscription.cancel()
  }

  @Test func `cancelling cancels every request`() {
    for name in ["a", "b"] { serve(name, makeFeed(1), after: .seconds(1)) }
    let subscription = feeds("a", "b").load().sink { _ in Issue.record("nothing is delivered") }
    time.advance(by: .milliseconds(100))
    #expect(network.open.count == 2)
    subscription.cancel()
    #expect(network.open.isEmpty)
    time.run()
  }
}
