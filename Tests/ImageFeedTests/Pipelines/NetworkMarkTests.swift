import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// A saved feed records whether it came from a private network, which decides where its URLs may lead.
@Suite(.settled) struct NetworkMarkTests {
  private let loop = EventLoop()

  private func client(_ publicAddresses: Set<String> = []) -> CurlHTTPClient {
    var configuration = CurlHTTPClient.Configuration()
    configuration.usesProxies = false
    configuration.publicAddresses = publicAddresses
    return CurlHTTPClient(on: loop, configuration)
  }

  private func load(_ url: URL, _ client: CurlHTTPClient, in store: any FeedStore) -> Feed? {
    var feed: Feed?
    let subscription = FeedLoader(url, client: client, cache: FeedCache(store: store, on: loop), on: loop)
      .load().sink { _ in
      } receiveValue: {
        feed = $0
      }
    loop.run()
    subscription.cancel()
    return feed
  }

  @Test func `a saved feed records whether it came from a private network, until it is replaced`() throws {
    defer { loop.close() }
    let body = Data(
      "{\"version\": \"https://jsonfeed.org/version/1.1\", \"items\": [{\"id\": \"1\", \"image\": \"https://a/1.png\"}]}"
        .utf8)
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], body) }
    defer { origin.stop() }
    let folder = TemporaryFolder()
    for store in [SQLiteFeedStore(path: folder.file()), InMemoryFeedStore()] as [any FeedStore] {
      #expect(load(origin.url(), client(), in: store)?.images.isFromPrivateNetwork == true)
      #expect(try store.retrieve(for: origin.url())?.images.isFromPrivateNetwork == true)
      #expect(load(origin.url("/2"), client(["127.0.0.1"]), in: store)?.images.isFromPrivateNetwork == false)
      #expect(try store.retrieve(for: origin.url("/2"))?.images.isFromPrivateNetwork == false)
      // With a proxy, the client doesn't know which address is connected to.
      try store.replace(for: origin.url(), with: CachedFeed(images: [makeImage(1)], timestamp: Date() + 1))
      #expect(try store.retrieve(for: origin.url())?.images.isFromPrivateNetwork == nil)
    }
  }

  @Test func `joined images are from a private network only if all of them are`() {
    func joined(_ marks: Bool?...) -> Bool? {
      FeedImages(joining: marks.map { FeedImages([makeImage(1)]).marked(isFromPrivateNetwork: $0) })
        .isFromPrivateNetwork
    }
    #expect(joined(true, true) == true && joined(true, false) == false && joined(nil, false) == false)
    #expect(joined(true, nil) == nil && joined() == nil)
  }
}
