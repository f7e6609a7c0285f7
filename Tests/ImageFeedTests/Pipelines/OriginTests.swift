import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

@testable import ImageFeed

/// URLs in a feed are requested as the feed's choice, not the user's.
@Suite(.settled) struct OriginTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork

  init() { network = VirtualNetwork(on: time) }

  private func origins<P: Publisher>(of publisher: P) -> [URL?] {
    let subscription = publisher.sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    time.run()
    subscription.cancel()
    return network.log.map(\.request.origin)
  }

  private var loader: FeedLoader {
    FeedLoader(
      address, client: network, cache: FeedCache(store: InMemoryFeedStore(), on: time, now: { noon }), on: time)
  }

  @Test func `a feed's URL counts as the user's own, and its next page's doesn't`() {
    network.serve("example.com") { request, _ in
      let link = request.number == 0 ? "\"next_url\": \"https://example.com/next\", " : ""
      return .answer(
        Data(
          """
          {"version": "https://jsonfeed.org/version/1.1", \(link)"items": [{"id": "\(request.number)", "image": "https://a/\(request.number).png"}]}
          """.utf8))
    }
    #expect(origins(of: loader.pages()) == [nil, address])
  }

  @Test func `a feed that a web page links to is requested with the page as origin`() {
    network.serve("example.com") { _, _ in
      .answer(
        Data(
          """
          <!doctype html><link rel="alternate" type="application/rss+xml" href="https://other.example/feed.xml">
          """.utf8))
    }
    network.serve("other.example") { _, _ in .feed(makeFeed(1).images) }
    #expect(origins(of: loader.load()) == [nil, address])
  }

  @Test func `an image is requested with its feed as origin, unless the user requests it`() {
    let world = ImageWorld()
    world.network.serve("images.example") { _, _ in .answer(status: 404, Data()) }
    for feed in [nil, address] {
      let subscription = world.loader.data(for: imageURL, of: feed).asResult().sink { _ in }
      world.time.run()
      subscription.cancel()
      // The server's refusal is remembered for a minute.
      world.clock.now += 61
    }
    #expect(world.network.log.map(\.request.origin) == [nil, address])
  }
}
