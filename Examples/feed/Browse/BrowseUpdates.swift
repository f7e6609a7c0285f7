import FeedStream
import Foundation
import ImageFeed

/// Handles feeds that arrive while the user is browsing.
extension BrowseState {
  static let reloading = "Reloading…"

  /// Reports the result of a reload after the last feed has arrived.
  mutating func endReload() {
    guard let count = reloaded, !sources.contains(where: \.isRefreshing) else { return }
    reloaded = nil
    guard message.isEmpty || message == Self.reloading else { return }
    let failed = sources.count(where: \.hasFailed)
    let news = count > 0 ? "\(counted(count, "new image"))." : failed == 0 ? "Nothing new." : ""
    let failure =
      failed == 0
      ? ""
      : sources.count == 1
        ? "The feed couldn't be reloaded (press i)." : "\(counted(failed, "feed")) couldn't be reloaded (press i)."
    message = [news, failure].filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// Shows a new version of a feed from a poll or another process. New items appear in their place, with a mark, and
  /// the selection doesn't change. Items that the feed no longer lists are removed only when the feed is loaded again.
  mutating func take(update feed: Feed, of address: URL) {
    guard let source = sources.first(where: { $0.address == address }), !source.isRefreshing else { return }
    switch feed.source {
    // The server can be reached again, so the feed's images may load, too.
    case .remote, .part, .cache(_, _, .unchanged), .cache(_, _, .notAsked):
      // After an outage, a lasting failure may be that of a login page, or of a broken handshake.
      forgetFailures { $0.feed == address && (source.isFallback || $1.isPassing) }
    case .cache: break
    }
    guard let former = source.feed else {
      // The first load has failed. A load that is still running shows the saved feed by itself.
      guard !source.isLoading else { return }
      take(feed, of: address)
      // The pages after it can't be requested.
      change(address) { $0.hasMore = false }
      return
    }
    let added = source.unknown(in: feed.images)
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
