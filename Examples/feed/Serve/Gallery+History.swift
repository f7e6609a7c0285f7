import Foundation
import ImageFeed

/// The feeds' former items, and the marks of new and starred items.
extension Gallery {
  /// Former entries, and their images.
  struct Past {
    /// The maximum number of images in all entries; when there are more, the older half is dropped.
    static let most = 20_000

    /// The images of the entries, by their keys.
    private(set) var images: [String: Named] = [:]
    private var items: [String: (entry: Entry, isPrivate: Bool?)] = [:]
    /// The names of the entries' cards, in the order in which they were added.
    private var cards: [String] = []
    /// The number of images in all entries, and in entries that were replaced by one with other images.
    private var count = 0

    subscript(card: String) -> Entry? { items[card]?.entry }

    /// - Parameter isPrivate: true if the feed came from a private network; `nil` if that is unknown.
    mutating func add(_ entry: Entry, isPrivate: Bool?) {
      let old = items.updateValue((entry, isPrivate), forKey: entry.card)?.entry
      if old == nil { cards.append(entry.card) }
      if old?.images.map(\.key) != entry.images.map(\.key) { count += entry.images.count }
      for image in entry.images {
        var named = images[image.key] ?? Named(url: image.url)
        if !named.feeds.contains(where: { $0.address == entry.feed }) {
          named.add(Named.Lister(address: entry.feed, isPrivate: isPrivate))
        }
        images[image.key] = named
      }
      guard count > Self.most else { return }
      // Those of replaced entries are dropped anyway.
      var excess = items.values.reduce(0) { $0 + $1.entry.images.count } - Self.most / 2
      change { entry in
        guard excess > 0 else { return entry }
        excess -= entry.images.count
        return nil
      }
    }

    /// Changes each entry, or drops it.
    mutating func change(_ change: (Entry) -> Entry?) {
      let old = self
      self = Past()
      for item in old.cards.lazy.compactMap({ old.items[$0] }) {
        if let entry = change(item.entry) { add(entry, isPrivate: item.isPrivate) }
      }
    }
  }

  /// The position of each feed.
  private var places: [URL: Int] {
    Dictionary(sources.indices.map { (sources[$0].address, $0) }) { first, _ in first }
  }

  /// The entries with the current positions of their feeds, except those of removed feeds. Call this with entries that
  /// were found before a delay, in which the list of feeds may have changed.
  func placed(_ entries: [Entry]) -> [Entry] {
    let places = places
    return entries.compactMap { $0.placed(in: places) }
  }

  /// Updates the former entries after the list of feeds has changed.
  func placePast(forgetting forgotten: Set<URL> = []) {
    let places = places
    past.change { forgotten.contains($0.feed) ? nil : $0.placed(in: places) }
  }

  /// The entry of a current or former image of one of the feeds; `nil` for an image from any other feed.
  func entry(_ seen: SeenImage) -> Entry? {
    guard let index = sources.firstIndex(where: { $0.address == seen.address }) else { return nil }
    let (id, url) = ("\(seen.image.id)", seen.image.url)
    let card = card(id, url, of: index)
    if seen.isStarred { star(true, seen.image.id, of: seen.address) }
    if let entry = sources[index].entries.first(where: { $0.card == card }) { return entry }
    let entry = Entry(
      key: key(url), card: card, id: id, imageID: seen.image.id, feed: seen.address, source: index,
      description: seen.image.caption, location: seen.image.location, post: seen.image.post, imageURL: url,
      others: others(of: seen.image.post, but: url), date: seen.image.published ?? seen.firstSeen,
      rank: seen.image.published ?? seen.firstSeen, position: 0)
    past.add(entry, isPrivate: seen.isFromPrivateNetwork)
    return entry
  }

  /// The entry that a card shows.
  func entry(card: String) -> Entry? {
    past[card] ?? sources.lazy.flatMap(\.entries).first { $0.card == card }
  }

  func mark(_ address: URL, _ visit: FeedHistory.Visit) {
    marks[address, default: FeedHistory.Visit()].new.formUnion(visit.new)
    marks[address]?.stars = visit.stars
  }

  /// Begins a visit: items that were new during the last visit are no longer new.
  func forgetNew() { for address in marks.keys { marks[address]?.new = [] } }

  func star(_ isStarred: Bool, _ id: FeedImage.ID, of address: URL) {
    if isStarred {
      marks[address, default: FeedHistory.Visit()].stars.insert(id)
    } else {
      marks[address]?.stars.remove(id)
    }
  }

  /// The current entries that are new since the last visit.
  var newEntries: [Entry] { entries.filter(isNew) }

  func isNew(_ entry: Entry) -> Bool { isNew(entry.imageID, of: entry.feed) }
  func isNew(_ id: FeedImage.ID, of address: URL) -> Bool { marks[address]?.new.contains(id) ?? false }
  func isStarred(_ entry: Entry) -> Bool { marks[entry.feed]?.stars.contains(entry.imageID) ?? false }
}
