import Foundation
import ImageFeed

extension Gallery {
  /// One item on the page.
  struct Entry {
    /// The name by which this page's URLs refer to the item's image.
    let key: String
    /// The name of the item's place on the page: an image may occur in several feeds, or twice in one.
    let card: String
    let id: String
    let imageID: FeedImage.ID
    /// The feed's URL.
    let feed: URL
    /// The feed's position, which changes with the list of feeds.
    var source: Int
    /// The caption: see `FeedImage.caption`.
    let description: String?
    let location: String?
    /// The item's title, text, link and other images.
    let post: FeedImage.Post
    let imageURL: URL
    /// The other images of the item, in order.
    let others: [Image]
    /// The time when the item was published, or else first seen; `nil` for an undated item that was in the feed when it
    /// was first shown, because its age is unknown.
    let date: Date?
    /// The sort key: an undated item that was in the feed when it was first shown comes last.
    let rank: Date
    /// The entry's position in its feed.
    let position: Int

    /// One of several images of an item.
    struct Image {
      /// The name by which this page's URLs refer to the image.
      let key: String
      let url: URL
      let alt: String?
    }

    /// All images of the item, beginning with its main image.
    var images: [Image] { [Image(key: key, url: imageURL, alt: post.alt)] + others }

    /// The entry with its feed's position; `nil` if the feed isn't among these.
    func placed(in places: [URL: Int]) -> Entry? {
      guard let place = places[feed] else { return nil }
      var entry = self
      entry.source = place
      return entry
    }
  }

  /// The maximum number of additional images per item.
  private static var mostOthers: Int { 50 }

  /// The images of an item other than its main one.
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

  /// The images of these entries about which no facts are known yet.
  func unknown(_ entries: some Sequence<Entry>) -> [URL] {
    entries.flatMap(\.images).filter { facts[$0.key] == nil }.map(\.url)
  }
}

/// The names by which URLs refer to feeds.
extension Gallery {
  /// A unique name per feed, in order: `harbour-walks`, and `harbour-walks-2` if another feed has that name.
  var feedNames: [String] {
    var (counts, names): ([String: Int], Set<String>) = ([:], [])
    return sources.map { source in
      let words = source.name.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
      let base = words.isEmpty ? "feed" : words.joined(separator: "-")
      var (name, count) = (base, counts[base] ?? 1)
      while !names.insert(name).inserted {
        count += 1
        name = "\(base)-\(count)"
      }
      counts[base] = count
      return name
    }
  }

  /// A feed's name that never changes. It begins with a character that other names don't contain.
  func permanentName(ofFeed address: URL) -> String { "_\(digest(of: address.absoluteString))" }

  /// The feed with this name, this permanent name or, if there is none, at this number, counted from 0.
  func feed(_ name: String) -> GalleryQuery.NamedFeed {
    let names = feedNames
    let place =
      name.hasPrefix("_")
      ? sources.firstIndex { permanentName(ofFeed: $0.address) == name }
      : names.firstIndex(of: name) ?? Int(name).flatMap { sources.indices.contains($0) ? $0 : nil }
    guard let place else {
      let unknown = String(name.prefix(500))
      return GalleryQuery.NamedFeed(name: unknown, permanentName: unknown, address: nil)
    }
    let address = sources[place].address
    return GalleryQuery.NamedFeed(name: names[place], permanentName: permanentName(ofFeed: address), address: address)
  }

  /// The feed's position; `nil` if it isn't in the list.
  func place(of feed: GalleryQuery.NamedFeed) -> Int? {
    feed.address.flatMap { address in sources.firstIndex { $0.address == address } }
  }

  /// The token against cross-site request forgery (CSRF) in this page's forms.
  var formKey: String {
    SHA1.code(of: Array("form".utf8), key: secret).prefix(10).hexDigits
  }
}
