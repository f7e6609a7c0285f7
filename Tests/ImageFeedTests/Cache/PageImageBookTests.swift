import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ImageFeed

/// Images found on items' pages, while other processes change the same store.
@Suite(.settled) struct PageImageBookTests {
  /// A store that another process changes once, immediately before a save.
  private final class SharedStore: NoteStore {
    typealias Change = @Sendable (InMemoryFeedStore) throws -> Void

    let memory = InMemoryFeedStore()
    let change = Mutex<Change?>(nil)

    private func changeOnce() {
      let change = change.withLock { change in
        defer { change = nil }
        return change
      }
      do { try change?(memory) } catch { Issue.record(error) }
    }

    func retrieve(for address: URL) throws(FeedStoreError) -> CachedFeed? { try memory.retrieve(for: address) }

    func replace(for address: URL, with feed: CachedFeed, now: Date) throws(FeedStoreError) -> FeedReplacement {
      changeOnce()
      return try memory.replace(for: address, with: feed, now: now)
    }

    func delete(for address: URL, if condition: FeedDeletionCondition) throws(FeedStoreError) -> Bool {
      try memory.delete(for: address, if: condition)
    }

    func summaries() throws(FeedStoreError) -> [CachedFeedSummary] { try memory.summaries() }

    func deleteAll() throws(FeedStoreError) { try memory.deleteAll() }

    func readNotes<R: Sendable>(_ body: (any FeedNotes) throws -> R) throws(FeedStoreError) -> R? {
      try memory.readNotes(body)
    }

    func changeNotes<R: Sendable>(
      replacing: Bool, _ body: (any FeedNotes) throws -> R
    ) throws(FeedStoreError) -> R {
      changeOnce()
      return try memory.changeNotes(replacing: replacing, body)
    }
  }

  private let store = SharedStore()

  /// Saves a document of one image and two items without an image, and notes the first item's image.
  init() throws {
    var builder = FeedImages.Builder(count: 1)
    builder.append(makeImage(1))
    for item in 2...3 { builder.omit(makeImage(item)) }
    let book = PageImageBook(store.memory)
    let feed = CachedFeed(
      book.completing(builder.finish(), of: address), timestamp: noon,
      validators: FeedValidators(digest: BodyDigest(value: 1), wholeAsked: noon))
    try store.memory.replace(for: address, with: feed)
    try book.note("https://example.com/a.png", of: makeImage(2).id, in: address, isTrusted: true)
  }

  @Test func `an image that another process adds at the same time stays in the feed`() throws {
    store.change.withLock {
      $0 = { memory in
        let other = PageImageBook(memory)
        try other.note("https://example.com/b.png", of: makeImage(3).id, in: address, isTrusted: true)
        _ = try other.fill(address, now: noon)
      }
    }
    let filled = try PageImageBook(store).fill(address, now: noon)
    let wanted = ["1.jpg", "a.png", "b.png"]
    #expect(filled?.map(\.url.lastPathComponent) == wanted)
    #expect(try store.retrieve(for: address)?.images.map(\.url.lastPathComponent) == wanted)
  }

  @Test func `a later page that another process saves at the same time stays in the feed`() throws {
    store.change.withLock {
      $0 = { memory in
        let saved = try #require(try memory.retrieve(for: address))
        let both = CachedFeed(
          images: FeedImages(joining: [saved.images, FeedImages([makeImage(4)])]), timestamp: saved.timestamp,
          validators: saved.validators)
        try memory.replace(for: address, with: both)
      }
    }
    let filled = try PageImageBook(store).fill(address, now: noon)
    let wanted = ["1.jpg", "a.png", "4.jpg"]
    #expect(filled?.map(\.url.lastPathComponent) == wanted)
    #expect(try store.retrieve(for: address)?.images.map(\.url.lastPathComponent) == wanted)
  }

  @Test func `a feed that another process deletes at the same time isn't saved again`() throws {
    store.change.withLock { $0 = { memory in _ = try memory.delete(for: address) } }
    #expect(try PageImageBook(store).fill(address, now: noon) == nil)
    #expect(try store.retrieve(for: address) == nil)
  }
}
