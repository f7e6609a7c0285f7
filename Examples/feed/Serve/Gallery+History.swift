import Foundation
import ImageFeed

/// The feeds' former items, and the marks of new and starred items.
extension Gallery {
  /// The maximum number of former entries that are remembered.
  private static let mostPast = 10_000

  /// The entry of a current or former image of one of the feeds; `nil` for an image from any other feed.
  func entry(_ seen: SeenImage) -> Entry? {
    guard let index = sources.firstIndex(where: { $0.address == seen.address }) else { return nil }
    let (id, url) = ("\(seen.image.id)", seen.image.url)
    let card = card(id, url, of: index)
    if seen.isStarred { star(true, seen.image.id, of: seen.address) }
    if let entry = sources[index].entries.first(where: { $0.card == card }) { return entry }
    if past.entries.count >= Self.mostPast { past = ([:], [:]) }
    let entry = Entry(
      key: key(url), card: card, id: id, imageID: seen.image.id, source: index, description: seen.image.caption,
      location: seen.image.location, post: seen.image.post, imageURL: url,
      others: others(of: seen.image.post, but: url), date: seen.image.published ?? seen.firstSeen,
      rank: seen.image.published ?? seen.firstSeen, position: 0)
    past.entries[card] = entry
    for image in entry.images {
      var named = past.images[image.key] ?? Named(url: image.url)
      named.add(Named.Lister(address: seen.address, isPrivate: seen.isFromPrivateNetwork))
      past.images[image.key] = named
    }
    return entry
  }

  /// The entry that a card shows.
  func entry(card: String) -> Entry? {
    past.entries[card] ?? sources.lazy.flatMap(\.entries).first { $0.card == card }
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

  func isNew(_ entry: Entry) -> Bool { marks[sources[entry.source].address]?.new.contains(entry.imageID) ?? false }
  func isStarred(_ entry: Entry) -> Bool {
    marks[sources[entry.source].address]?.stars.contains(entry.imageID) ?? false
  }
}
