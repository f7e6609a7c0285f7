import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// The test that "Getting started" shows under "Test it without a network".
@Suite(.settled) struct FirstFeedTests {
  private func feed(
    at address: URL, client: any HTTPClient, cache: FeedCache, on scheduler: any LoopScheduler
  ) -> some Publisher<Feed, FeedError> {
    let saved = cache.feed(at: address)
    return client.get(address)
      .asDocument()
      .mapFeed(on: scheduler)
      .caching(to: saved) { print("not saved: \($0)") }
      .fallback(to: saved.load())
  }

  @Test func `offline, the saved feed is delivered`() {
    withVirtualTime { time in
      let address = URL(string: "https://example.com/feed.json")!
      let network = VirtualNetwork(on: time)
      network.serve("example.com") { _, _ in .feed([FeedImage(id: UUID(), url: address)]) }
      let cache = FeedCache(store: InMemoryFeedStore(), on: time)
      let loading = feed(at: address, client: network, cache: cache, on: time)
      let online = loading.record(on: time)
      time.run()
      network.disconnect()
      let offline = loading.record(on: time)
      time.run()
      #expect(online.values.map(\.source) == [.remote])
      #expect(offline.values.map(\.source.isRemote) == [false])
    }
  }
}
