import Foundation
import ImageFeed

/// The time from which tests count.
let noon = Date(timeIntervalSince1970: 1_750_000_000)

let address = URL(string: "https://example.com/feed")!
let otherAddress = URL(string: "https://example.com/other")!

func makeImage(_ number: Int, description: String? = "a description", location: String? = "a location") -> FeedImage {
  FeedImage(
    id: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number / 256 % 256), UInt8(number % 256))),
    description: description, location: location, url: URL(string: "https://images.example.com/\(number).jpg")!)
}

/// A feed of `count` images that differ from each other and from those of another `start`.
func makeFeed(_ count: Int = 3, from start: Int = 0, at timestamp: Date = noon) -> CachedFeed {
  CachedFeed(images: (0..<count).map { makeImage(start + $0) }, timestamp: timestamp)
}

extension FeedStore {
  /// Saves a feed at its own timestamp.
  @discardableResult func replace(for address: URL, with feed: CachedFeed) throws(FeedStoreError) -> FeedReplacement {
    try replace(for: address, with: feed, now: feed.timestamp)
  }
}
