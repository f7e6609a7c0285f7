import Foundation

extension Gallery {
  /// The URL of an image on the page, and the feeds that list it.
  struct Named {
    struct Lister {
      let address: URL
      /// True if the feed came from a private network; `nil` if that is unknown.
      let isPrivate: Bool?
    }

    let url: URL
    private(set) var feeds: [Lister] = []

    init(url: URL) { self.url = url }

    /// Adds a feed. A feed that lists the image in several entries, which are added one after another, is added only
    /// once.
    mutating func add(_ feed: Lister) { if feeds.last?.address != feed.address { feeds.append(feed) } }

    mutating func remove(_ address: URL) { feeds.removeAll { $0.address == address } }

    /// The feeds for which the image may be loaded. A feed from a private network comes first, because only such a feed
    /// may load an image from there. One feed is enough, unless it is unknown whether the feeds are private.
    var namers: [Lister] {
      if let feed = feeds.first(where: { $0.isPrivate == true }) { return [feed] }
      let unknown = feeds.filter { $0.isPrivate == nil }
      return unknown.isEmpty ? Array(feeds.prefix(1)) : unknown
    }
  }
}
