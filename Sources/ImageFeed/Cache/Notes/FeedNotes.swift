package import Foundation

/// The key of a note in a store.
package struct NoteKey: Hashable, Sendable {
  /// The subject of the note.
  package enum Kind: Hashable, Sendable {
    /// A feed, by its URL: its notes are deleted with the feed's whole state.
    case feed(UInt8)
    /// Anything else, by its name.
    case other(UInt8)
  }

  package var kind: Kind
  package var name: String
  /// The note's number, if there are several notes of the same kind.
  package var place: Int

  package init(_ kind: Kind, _ name: String, place: Int = 0) {
    self.kind = kind
    self.name = name
    self.place = place
  }
}

extension [NoteKey: any StoredNote] {
  /// Removes the notes of one feed; without a URL, those of all feeds.
  package mutating func removeNotes(ofFeed address: URL? = nil) {
    let name = address?.absoluteString
    for key in keys where key.kind.isFeed && name ?? key.name == key.name { self[key] = nil }
  }
}

extension NoteKey.Kind {
  fileprivate var isFeed: Bool { if case .feed = self { true } else { false } }
}

/// The notes and feeds of a store within one transaction. Notes are additional data that a store keeps for other
/// modules, together with its feeds.
package protocol FeedNotes {
  /// The note with the given key; `nil` if there is none or if it can't be read.
  func note<Note: StoredNote>(_ key: NoteKey, as type: Note.Type) throws -> Note?
  /// - Parameter isKept: true if the note will soon be read again.
  func set<Note: StoredNote>(_ note: Note, at key: NoteKey, isKept: Bool) throws
  /// The validators of the saved feed; empty if nothing is saved.
  func validators(of address: URL) throws -> FeedValidators
  /// The number of the saved feed's images; 0 if nothing is saved.
  func imageCount(of address: URL) throws -> Int
  func replace(_ address: URL, with feed: CachedFeed, now: Date) throws -> FeedReplacement
  func renew(_ address: URL, with renewal: FeedRenewal, now: Date) throws -> FeedReplacement?
}

/// A store that keeps notes.
package protocol NoteStore: FeedStore {
  /// Runs `body` on one consistent state; returns `nil` if nothing was ever saved. `body` must not change anything.
  func readNotes<R: Sendable>(_ body: (any FeedNotes) throws -> R) throws(FeedStoreError) -> R?

  /// Runs `body` in a transaction: either all of its changes are saved, or none.
  ///
  /// - Parameters:
  ///   - replacing: true if `body` may replace feeds, which takes longer than renewing them.
  ///   - body: may run more than once; the changes of earlier runs are undone.
  func changeNotes<R: Sendable>(
    replacing: Bool, _ body: (any FeedNotes) throws -> R
  ) throws(FeedStoreError) -> R
}
