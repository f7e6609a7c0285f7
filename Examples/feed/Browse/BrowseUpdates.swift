import FeedStream
import Foundation
import ImageFeed

/// Handles feeds that arrive while the user is browsing.
extension BrowseState {
  /// Shows a new version of a feed from a poll or another process. New items appear in their place, with a mark, and
  /// the selection doesn't change. Items that the feed no longer lists are removed only when the feed is loaded again.
  mutating func take(update feed: Feed, of address: URL) {
    guard let source = sources.first(where: { $0.address == address }), !source.isRefreshing else { return }
    guard let former = source.feed else {
      // The first load has failed. A load that is still running shows the saved feed by itself.
      guard !source.isLoading else { return }
      take(feed, of: address)
      // The pages after it can't be requested.
      change(address) { $0.hasMore = false }
      return
    }
    let known = Set(former.images.map(\.id)).union(source.kept.map(\.id))
    let added = Set(feed.images.map(\.id)).subtracting(known)
    let present = Set(feed.images.map(\.id))
    let unlisted = FeedImages(former.images.filter { !present.contains($0.id) })
    let mark = unlisted.isEmpty ? feed.images.isFromPrivateNetwork : former.images.isFromPrivateNetwork
    let images = FeedImages(joining: [feed.images, unlisted.marked(isFromPrivateNetwork: mark)])
    let now = now
    change(address) { source in
      // A feed that another process saved came from the server at the time of the save.
      if case .cache(let savedAt, _, .notAsked) = feed.source, former.source.isRemote {
        source.feed = Feed(images: images, source: former.source)
        source.loadedAt = max(source.loadedAt ?? savedAt, savedAt)
      } else {
        source.feed = Feed(images: images, source: feed.source)
        source.loadedAt = now
      }
      source.new.formUnion(added)
    }
    if !added.isEmpty {
      let place = sources.count > 1 ? " from \(source.name)" : ""
      message = "\(counted(added.count, "new image"))\(place)."
    }
    arrange()
  }
}
