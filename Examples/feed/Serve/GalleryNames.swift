import Foundation

extension Gallery {
  /// The URL of an image on the page, and the feeds that name it.
  struct Named {
    struct Feed {
      let address: URL
      /// True when it came out of a private network; `nil` when nobody knows.
      let isPrivate: Bool?
    }

    let url: URL
    private(set) var feeds: [Feed] = []

    init(url: URL) { self.url = url }

    /// Adds a feed, once where it names the image in several entries, which come one after another.
    mutating func add(_ feed: Feed) { if feeds.last?.address != feed.address { feeds.append(feed) } }

    /// Those by which it may be loaded: a feed of the web takes nothing from a private one that names the same image. One
    /// is enough, unless nobody knows of it.
    var namers: [Feed] {
      if let feed = feeds.first(where: { $0.isPrivate == true }) { return [feed] }
      let unknown = feeds.filter { $0.isPrivate == nil }
      return unknown.isEmpty ? Array(feeds.prefix(1)) : unknown
    }
  }
}
