import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// The cache file that the history commands query.
struct HistorySource {
  /// The path as the user wrote it.
  let path: String
  let store: SQLiteFeedStore
  let history: FeedHistory

  init(_ common: CommonOptions, on session: Session) {
    path = common.cachePath
    let (store, cache) = session.openCache(common)
    self.store = store
    history = FeedHistory(store: store, cache: cache)
  }

  /// Refuses a fleet's server, because it keeps only the latest documents.
  static func refuse(_ store: String?) throws {
    guard store != nil else { return }
    throw ValidationError(
      "A fleet's server keeps only the feeds' current items; history, search and stars need a cache file. "
        + "Leave out --store, and use --cache with the cache file of \"feed watch\" or \"feed serve\".")
  }
}

extension IndexProgress {
  /// The progress as text: "23,000 of 100,000".
  var text: String { "\(GalleryPage.number(indexed)) of \(GalleryPage.number(total))" }
}

/// Current and former items as text or as lines of JSON.
struct SeenText: Sendable {
  var style = Style.plain

  func text(of images: [SeenImage], _ format: OutputFormat) -> String {
    switch format {
    case .json:
      return images.map { FeedJSON.item(FeedTimeline.Entry($0), isStarred: $0.isStarred) + "\n" }.joined()
    case .text:
      let width = String(images.count).count
      return images.enumerated().map { index, one in
        let entry = FeedTimeline.Entry(one)
        return FeedText.entry(
          index + 1, width: width, of: one.image, from: TimelineText.origin(of: entry).printable(limit: 200),
          isStarred: one.isStarred, style)
      }.joined()
    }
  }
}

extension FeedTimeline.Entry {
  init(_ seen: SeenImage) {
    self.init(
      address: seen.address, name: seen.feedTitle ?? seen.address.host ?? seen.address.absoluteString,
      image: seen.image, isFromPrivateNetwork: seen.isFromPrivateNetwork)
  }
}
