// Loads a feed and shows it; without a connection, shows the saved one.
//
//     swift run LoadAndShow http://127.0.0.1:8765/case-study.json feeds.db

import FeedStream
import Foundation
import ImageFeed
import PlainText

guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[1]) else {
  print("Usage: LoadAndShow <url> <cache file>")
  exit(64)
}

let loop = EventLoop()
let http = CurlHTTPClient(on: loop)
let saved = FeedCache(store: SQLiteFeedStore(path: CommandLine.arguments[2]), on: loop).feed(at: url)

var status: Int32 = 0
let subscription =
  http.get(url)
  .asDocument()
  .mapFeed(on: loop)
  .caching(to: saved) { print("not saved: \($0)") }
  .fallback(to: saved.load(maxAge: .seconds(7 * 86_400)))
  .showingParts()
  .sink { completion in
    guard case .failure(let error) = completion else { return }
    FileHandle.standardError.write(Data("no feed: \(error)\n".utf8))
    status = 1
  } receiveValue: { feed in
    switch feed.source {
    case .remote: print("\(feed.images.count) images from the server")
    case .cache(_, let age, let reason): print("\(feed.images.count) images saved \(age.ago): \(reason)")
    case .part(let reason): print("\(feed.images.count) images from an incomplete feed: \(reason)")
    }
    for image in feed.images { print("-", image.description?.printable ?? "(no description)", image.url) }
  }

// Returns when the feed has been shown and saved.
loop.run()
withExtendedLifetime(subscription) {}
exit(status)
