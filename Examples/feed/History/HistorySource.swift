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

  /// The titles of the feeds in the user's list; none if the list can't be read.
  static var names: [URL: String] {
    let list = try? SubscriptionFile(path: SubscriptionPlace.path()).read()
    let named = (list?.subscriptions ?? []).compactMap { feed in feed.title.map { (feed.address, $0) } }
    return Dictionary(named) { first, _ in first }
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
  /// The user's names for feeds.
  var names: [URL: String] = [:]

  func text(of images: [SeenImage], _ format: OutputFormat) -> String {
    switch format {
    case .json:
      return images.map { FeedJSON.item(entry($0), isStarred: $0.isStarred) + "\n" }.joined()
    case .text:
      let width = String(images.count).count
      return images.enumerated().map { index, one in
        let entry = entry(one)
        return FeedText.entry(
          index + 1, width: width, of: one.image, from: TimelineText.origin(of: entry).printable(limit: 200),
          isStarred: one.isStarred, style)
      }.joined()
    }
  }

  private func entry(_ image: SeenImage) -> FeedTimeline.Entry {
    var entry = FeedTimeline.Entry(image)
    if let name = names[image.address] { entry.name = name }
    return entry
  }
}

extension FeedTimeline.Entry {
  init(_ seen: SeenImage) {
    self.init(
      address: seen.address, name: seen.feedTitle ?? seen.address.host ?? seen.address.absoluteString,
      image: seen.image, isFromPrivateNetwork: seen.isFromPrivateNetwork)
  }
}
