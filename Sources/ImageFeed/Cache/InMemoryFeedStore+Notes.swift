import Foundation

extension InMemoryFeedStore: NoteStore {
  package func readNotes<R: Sendable>(_ body: (any FeedNotes) throws -> R) throws(FeedStoreError) -> R? {
    try attempt(.retrieval)
    return try transaction(body)
  }

  package func changeNotes<R: Sendable>(
    replacing: Bool, _ body: (any FeedNotes) throws -> R
  ) throws(FeedStoreError) -> R {
    try attempt(.insertion)
    return try transaction(body)
  }

  private func transaction<R: Sendable>(_ body: (any FeedNotes) throws -> R) throws(FeedStoreError) -> R {
    try notes.withLock { notes throws(FeedStoreError) in
      let transaction = NotesInMemory(notes, in: self)
      do {
        let result = try body(transaction)
        notes.merge(transaction.changes) { _, new in new }
        return result
      } catch let error as FeedStoreError {
        throw error
      } catch {
        throw .insertion(.other("\(error)"), place: "memory")
      }
    }
  }
}

/// Reads and changes the notes of an in-memory store, within one transaction.
private final class NotesInMemory: FeedNotes {
  private let saved: [NoteKey: any StoredNote]
  private let store: InMemoryFeedStore
  private(set) var changes: [NoteKey: any StoredNote] = [:]

  init(_ saved: [NoteKey: any StoredNote], in store: InMemoryFeedStore) { (self.saved, self.store) = (saved, store) }

  func note<Note: StoredNote>(_ key: NoteKey, as type: Note.Type) -> Note? { (changes[key] ?? saved[key]) as? Note }

  func set<Note: StoredNote>(_ note: Note, at key: NoteKey, isKept: Bool) { changes[key] = note }

  func validators(of address: URL) throws -> FeedValidators {
    try store.summary(for: address)?.validators ?? FeedValidators()
  }

  func imageCount(of address: URL) throws -> Int { try store.summary(for: address)?.imageCount ?? 0 }

  func replace(_ address: URL, with feed: CachedFeed, now: Date) throws -> FeedReplacement {
    try store.replace(for: address, with: feed, now: now)
  }

  func renew(_ address: URL, with renewal: FeedRenewal, now: Date) throws -> FeedReplacement? {
    try store.renew(for: address, with: renewal, now: now)
  }
}
