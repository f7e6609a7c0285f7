import Foundation
import GRDB
import ImageFeed
import TestSupport

/// A cache file that killed programs have used.
struct CacheUnderTest {
  /// The damage found in it.
  struct Damage: Error, CustomStringConvertible {
    let description: String
  }

  let folder: String
  let url: URL

  init(_ folder: String, _ url: String) {
    self.folder = folder
    self.url = URL(string: url)!
  }

  var path: String { "\(folder)/feeds.db" }

  /// Makes a new file with a generation, and its folder if necessary. The first image has a star.
  func save(_ number: Int) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let store = SQLiteFeedStore(path: path)
    let feed = CachedFeed(images: Generation.images(number), timestamp: Date(timeIntervalSinceNow: -60))
    _ = try store.replace(for: url, with: feed, now: Date())
    guard try store.setStar(true, feed.images[0].id, of: url, now: Date()) else {
      throw Damage(description: "what was saved cannot be starred")
    }
    store.close()
  }

  /// Saves another generation, and runs `body` before the file is closed, while the save is only in the log.
  func withOpenLog(saving number: Int, _ body: () throws -> Void) throws {
    let store = SQLiteFeedStore(path: path)
    let feed = CachedFeed(images: Generation.images(number), timestamp: Date(timeIntervalSinceNow: -30))
    _ = try store.replace(for: url, with: feed, now: Date())
    try body()
    store.close()
  }

  /// The number of the saved generation; `nil` if nothing is saved.
  ///
  /// - Throws: when the saved feed is incomplete.
  func saved() throws -> Int? {
    let store = SQLiteFeedStore(path: path)
    defer { store.close() }
    guard let feed = try store.retrieve(for: url) else { return nil }
    guard let number = Generation.number(of: feed.images) else {
      throw Damage(description: "a mixed feed of \(feed.images.count) images: \(feed.images)")
    }
    return number
  }

  /// Checks the feed, the database, that a save succeeds, and that no other files remain next to it.
  ///
  /// - Parameters:
  ///   - mayBeDamaged: true if the file may still not be a database.
  ///   - known: generations that were saved before: each of their items is in the feed or in the history, and the first
  ///     item of each has a star.
  /// - Returns: the number of the saved generation.
  func examine(mayBeDamaged: Bool = false, knowing known: [Int] = []) throws -> Int? {
    let number: Int?
    var isDamaged = false
    do {
      number = try saved()
    } catch let error as FeedStoreError {
      guard mayBeDamaged, case .damaged = error.cause else { throw error }
      (number, isDamaged) = (nil, true)
    }
    if !isDamaged, FileManager.default.fileExists(atPath: path) {
      let queue = try DatabaseQueue(path: path)
      let verdict = try queue.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
      try queue.close()
      guard verdict == ["ok"] else { throw Damage(description: "the file is not whole: \(verdict)") }
    }
    let store = SQLiteFeedStore(path: path)
    if !isDamaged {
      try checkHistory(store)
      try checkKnown(known, store)
    }
    let feed = CachedFeed(images: Generation.images(99), timestamp: Date())
    _ = try store.replace(for: url, with: feed, now: Date())
    guard try store.retrieve(for: url)?.images == feed.images else {
      throw Damage(description: "what is saved now does not come back")
    }
    store.close()
    let left = try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0 != "feeds.db" && !$0.hasPrefix("feeds.db.corrupt-") }
    guard left.isEmpty else { throw Damage(description: "left beside the file: \(left)") }
    return number
  }

  /// Throws when an item is in the history twice, or both in the history and in the feed, or when a part of a
  /// generation is lost: each generation left the feed as a whole. The least recently seen generation may be partly
  /// trimmed.
  private func checkHistory(_ store: SQLiteFeedStore) throws {
    let kept = try store.history(of: url, after: nil, limit: .max - 1).images
    let ids = Set(kept.map(\.image.id))
    guard ids.count == kept.count else { throw Damage(description: "an item is kept twice") }
    let present = try store.retrieve(for: url)?.images.map(\.id) ?? []
    guard ids.isDisjoint(with: present) else { throw Damage(description: "an item is kept and in the feed") }
    let generations = Dictionary(grouping: kept) { $0.image.description ?? "" }
    // Starred items are not trimmed.
    let oldest = kept.filter { !$0.isStarred }.compactMap(\.lastSeen).min()
    for (text, items) in generations where kept.count < 1_000 || items.first?.lastSeen != oldest {
      guard let number = Int(text), items.count == Generation.images(number).count else {
        throw Damage(description: "\(items.count) items of generation \(text) are kept, and \(kept.count) in all")
      }
    }
  }

  /// Throws when an item of these generations or a star is lost, or when there is a star that was never set.
  private func checkKnown(_ known: [Int], _ store: SQLiteFeedStore) throws {
    guard !known.isEmpty else { return }
    let kept = try store.history(of: url, after: nil, limit: .max - 1).images.map(\.image.id)
    let all = Set(try store.retrieve(for: url)?.images.map(\.id) ?? []).union(kept)
    for number in known {
      let images = Generation.images(number)
      guard images.allSatisfy({ all.contains($0.id) }) else {
        throw Damage(description: "items of generation \(number) are lost: \(kept.count) are kept")
      }
    }
    let stars = try store.stars(of: url)
    guard stars == Set(known.map { Generation.images($0)[0].id }) else {
      throw Damage(description: "the stars are \(stars), of generations \(known)")
    }
    // The word index has each item once, and finds the starred ones.
    let (found, starred) = (
      try store.seen(SeenQuery(limit: 10_000)).images, try store.seen(SeenQuery(isStarred: true)).images
    )
    guard Set(found.map(\.image.id)) == all, found.count == all.count, Set(starred.map(\.image.id)) == stars else {
      throw Damage(description: "\(found.count) of \(all.count) items are found, \(starred.count) with stars")
    }
  }
}
