import Foundation
import ImageFeed

extension Gallery {
  /// One item on the page.
  struct Entry {
    /// Names its image in URLs of this page.
    let key: String
    /// Names its place on the page: one image may occur in several feeds, or twice in one.
    let card: String
    let id: String
    let imageID: FeedImage.ID
    var source: Int
    /// The caption: see `FeedImage.caption`.
    let description: String?
    let location: String?
    /// The item's title, text, link and other images.
    let post: FeedImage.Post
    let picture: URL
    /// The other images of the item, in order.
    let others: [Image]
    /// When it was published, or else when it arrived here; `nil` for one that was there from the beginning, of which nobody
    /// says how old it is.
    let date: Date?
    /// The key that it is sorted by: an image that was there from the beginning and has no date comes last.
    let rank: Date
    /// Where it is in its feed.
    let position: Int

    /// One of several images of an item.
    struct Image {
      /// Names it in URLs of this page.
      let key: String
      let url: URL
      let alt: String?
    }

    /// All images of the item: its own first.
    var images: [Image] { [Image(key: key, url: picture, alt: post.alt)] + others }
  }

  /// The most images of one item that are shown.
  private static var mostOthers: Int { 50 }

  /// The images of an item besides its own.
  func others(of post: FeedImage.Post, but url: URL) -> [Entry.Image] {
    let own = url.absoluteString
    return post.images.lazy.filter { $0.url != own }.prefix(Self.mostOthers).compactMap { image in
      URL(string: image.url).map { Entry.Image(key: key($0), url: $0, alt: image.alt) }
    }
  }
}

/// The facts about images.
extension Gallery {
  private static var mostFacts: Int { 50_000 }

  func learn(_ facts: ImageFacts, of url: URL) {
    if self.facts.count >= Self.mostFacts { self.facts = [:] }
    self.facts[key(url)] = facts
  }

  /// The images of these entries of which nothing is known here.
  func unknown(_ entries: some Sequence<Entry>) -> [URL] {
    entries.flatMap(\.images).filter { facts[$0.key] == nil }.map(\.url)
  }
}

/// The names of feeds in URLs.
extension Gallery {
  /// One for each feed, in order: `harbour-walks`, and `harbour-walks-2` where another has that name.
  var feedNames: [String] {
    var counts: [String: Int] = [:]
    return sources.map { source in
      let words = source.name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
      let name = words.isEmpty ? "feed" : words.joined(separator: "-")
      counts[name, default: 0] += 1
      return counts[name] == 1 ? name : "\(name)-\(counts[name] ?? 0)"
    }
  }

  /// The place of the feed of a name, or of a number among those of the page.
  func place(ofFeed name: String) -> Int? { Int(name) ?? feedNames.firstIndex(of: name) }

  /// The key that forms of this page have, and that no other page can know.
  var formKey: String {
    SHA1.code(of: Array("form".utf8), key: secret).prefix(10).map { String(format: "%02x", $0) }.joined()
  }
}
