import FeedStream
import Foundation
import ImageFeed

let address = URL(string: CommandLine.arguments.last!)!
let loop = EventLoop()
let saved = FeedCache(store: SQLiteFeedStore(path: "feeds.db"), on: loop).feed(at: address)

let subscription = CurlHTTPClient(on: loop).get(address)
  .asDocument()
  .mapFeed(on: loop)
  .caching(to: saved) { print("not saved: \($0)") }
  .fallback(to: saved.load())
  .sink { completion in
    guard case .failure(let error) = completion else { return }
    print("no feed: \(error)")
    exit(1)
  } receiveValue: { feed in
    print(feed.images.count, "images")
    if case .cache(let savedAt, _, let reason) = feed.source { print("saved at \(savedAt), shown because \(reason)") }
  }

loop.run()
withExtendedLifetime(subscription) {}
