import FeedFleet
import FeedFormats
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// One specification for every store. A failing step is made to fail from outside; see ``StoreUnderTest``.
@Suite(.settled) struct FeedStoreSpecification {
  // MARK: Retrieve

  @Test(arguments: StoreKind.allCases) func `retrieving from an empty store delivers no feed, twice`(kind: StoreKind)
    throws
  {
    let subject = kind.make()
    #expect(try subject.store.retrieve(for: address) == nil)
    #expect(try subject.store.retrieve(for: address) == nil)
    #expect(try subject.store.summaries() == [])
  }

  @Test(arguments: StoreKind.allCases) func `retrieving a saved feed delivers it, twice`(kind: StoreKind) throws {
    let subject = kind.make()
    let feed = CachedFeed(
      images: [
        makeImage(1), makeImage(2, description: nil), makeImage(3, location: nil),
        makeImage(4, description: "", location: "NUL \0, emoji 👩‍👩‍👧, e\u{301}, 'quote\"; --"), makeImage(1),
      ], timestamp: noon.addingTimeInterval(0.123_456_7))
    #expect(try subject.store.replace(for: address, with: feed) == .replaced)
    #expect(try subject.store.retrieve(for: address) == feed)
    #expect(try subject.store.retrieve(for: address) == feed)
  }

  @Test(arguments: StoreKind.allCases) func `a feed without images is saved as a feed`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed(0))
    #expect(try subject.store.retrieve(for: address) == makeFeed(0))
  }

  @Test(arguments: StoreKind.allCases)
  func `the number of items without an image is saved, and survives a renewal`(kind: StoreKind) throws {
    let subject = kind.make()
    let item = "<item><title>Sea</title><enclosure url='http://a/s.png' type='image/png'/></item>"
    for (name, items) in [("some", item + "<item/><item/>"), ("none", "<item/><item/>"), ("all", item)] {
      let url = URL(string: "https://example.com/\(name)")!
      let document = WebDocument(body: Data("<rss><channel><title>T</title>\(items)</channel></rss>".utf8), url: url)
      let images = try SyndicationFormat().images(of: document, within: FeedLimits())
      #expect(images.omittedItems == (name == "all" ? 0 : 2))
      try subject.store.replace(for: url, with: CachedFeed(images: images, timestamp: noon))
      #expect(try subject.store.retrieve(for: url)?.images.omittedItems == images.omittedItems)
      let renewal = FeedRenewal(timestamp: noon + 1, since: FeedValidators(), validators: FeedValidators(etag: "\"1\""))
      #expect(try subject.store.renew(for: url, with: renewal, now: noon + 1) == .renewed)
      let renewed = try #require(try subject.store.retrieve(for: url))
      #expect(renewed.images.omittedItems == images.omittedItems && renewed.images.title == "T")
      #expect(renewed.images == images)
    }
  }

  @Test(arguments: StoreKind.allCases) func `a failing retrieval fails twice and changes nothing`(kind: StoreKind)
    throws
  {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed())
    try subject.fail(.retrieval)
    for _ in 1...2 {
      let error = #expect(throws: FeedStoreError.self) { try subject.store.retrieve(for: address) }
      guard case .retrieval = error else {
        Issue.record("not a retrieval error: \(error as Any)")
        continue
      }
    }
    try subject.recover()
    #expect(try subject.store.retrieve(for: address) == makeFeed())
  }

  // MARK: Insert

  @Test(arguments: StoreKind.allCases) func `an insertion replaces the saved feed`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed(5))
    let newer = makeFeed(2, from: 10, at: noon + 1)
    #expect(try subject.store.replace(for: address, with: newer) == .replaced)
    #expect(try subject.store.retrieve(for: address) == newer)
    #expect(
      try subject.store.summaries() == [CachedFeedSummary(address: address, timestamp: noon + 1, imageCount: 2)])
  }

  @Test(arguments: StoreKind.allCases) func `an insertion of the same images renews the timestamp`(kind: StoreKind)
    throws
  {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed())
    #expect(try subject.store.replace(for: address, with: makeFeed(at: noon + 5)) == .renewed)
    #expect(try subject.store.retrieve(for: address) == makeFeed(at: noon + 5))
  }

  @Test(arguments: StoreKind.allCases) func `a failing insertion leaves an empty store empty`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: otherAddress, with: makeFeed())
    try subject.fail(.insertion)
    #expect(throws: FeedStoreError.insertion(subject.told, place: subject.place)) {
      try subject.store.replace(for: address, with: makeFeed())
    }
    try subject.recover()
    #expect(try subject.store.retrieve(for: address) == nil)
    #expect(try subject.store.retrieve(for: otherAddress) == makeFeed())
  }

  @Test(arguments: StoreKind.allCases, [FeedStoreError.Step.insertion, .deletion])
  func `a failing replacement keeps the saved feed`(kind: StoreKind, step: FeedStoreError.Step) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed())
    try subject.fail(step)
    guard step == .insertion || subject.replacesInTwoSteps else {
      #expect(try subject.store.replace(for: address, with: makeFeed(4, from: 10, at: noon + 1)) == .replaced)
      return
    }
    #expect(throws: FeedStoreError(step, subject.told, place: subject.place)) {
      try subject.store.replace(for: address, with: makeFeed(4, from: 10, at: noon + 1))
    }
    #expect(try subject.store.retrieve(for: address) == makeFeed())
    try subject.recover()
    #expect(try subject.store.replace(for: address, with: makeFeed(4, from: 10, at: noon + 1)) == .replaced)
  }

  @Test(arguments: StoreKind.allCases) func `an older feed never replaces a newer one`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed(at: noon))
    let late = makeFeed(from: 10, at: noon - 0.001)
    #expect(try subject.store.replace(for: address, with: late, now: noon + 60) == .superseded(by: noon))
    #expect(try subject.store.retrieve(for: address) == makeFeed(at: noon))
    #expect(try subject.store.replace(for: address, with: makeFeed(from: 20, at: noon)) == .replaced)
  }

  @Test(arguments: StoreKind.allCases) func `a feed from the future is replaced after the clock was set back`(
    kind: StoreKind
  ) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed(at: noon + 365 * 86_400))
    #expect(try subject.store.replace(for: address, with: makeFeed(from: 10, at: noon)) == .replaced)
    #expect(try subject.store.retrieve(for: address) == makeFeed(from: 10, at: noon))
  }

  // MARK: Delete

  @Test(arguments: StoreKind.allCases) func `a deletion from an empty store has no effect`(kind: StoreKind) throws {
    let subject = kind.make()
    #expect(try !subject.store.delete(for: address))
    try subject.store.deleteAll()
    #expect(try subject.store.retrieve(for: address) == nil)
  }

  @Test(arguments: StoreKind.allCases) func `a deletion removes the saved feed`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed())
    #expect(try subject.store.delete(for: address))
    #expect(try subject.store.retrieve(for: address) == nil)
    #expect(try !subject.store.delete(for: address))
  }

  @Test(arguments: StoreKind.allCases) func `a failing deletion keeps the saved feed`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed())
    try subject.fail(.deletion)
    let expected = FeedStoreError.deletion(subject.told, place: subject.place)
    #expect(throws: expected) { try subject.store.delete(for: address) }
    #expect(throws: expected) { try subject.store.deleteAll() }
    #expect(try subject.store.retrieve(for: address) == makeFeed())
  }

  @Test(arguments: StoreKind.allCases) func `deleting an expired feed keeps one saved meanwhile`(kind: StoreKind) throws
  {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed(at: noon + 1))
    #expect(try !subject.store.delete(for: address, if: .timestamp(noon)))
    #expect(try subject.store.retrieve(for: address) == makeFeed(at: noon + 1))
    #expect(try subject.store.delete(for: address, if: .timestamp(noon + 1)))
    #expect(try subject.store.retrieve(for: address) == nil)
  }

  @Test(arguments: StoreKind.allCases) func `deleting an unreadable feed keeps a readable one`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed())
    #expect(try !subject.store.delete(for: address, if: .unreadable))
    try subject.fail(.retrieval)
    #expect(try subject.store.delete(for: address, if: .unreadable))
    try subject.recover()
    #expect(try subject.store.retrieve(for: address) == nil)
  }

  // MARK: Several feeds and threads

  @Test(arguments: StoreKind.allCases) func `feeds of two URLs are independent`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: makeFeed(3))
    try subject.store.replace(for: otherAddress, with: makeFeed(2, from: 10))
    try subject.store.replace(for: address, with: makeFeed(1, from: 20, at: noon + 1))
    #expect(try subject.store.retrieve(for: otherAddress) == makeFeed(2, from: 10))
    #expect(try subject.store.summaries().map(\.address) == [address, otherAddress])
    try subject.store.delete(for: address)
    #expect(try subject.store.retrieve(for: otherAddress) == makeFeed(2, from: 10))
    try subject.store.deleteAll()
    #expect(try subject.store.summaries() == [])
  }

  @Test(arguments: StoreKind.allCases) func `calls from many threads run one at a time`(kind: StoreKind) async throws {
    let subject = kind.make()
    defer { withExtendedLifetime(subject) {} }
    let store = subject.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask {
          let feed = makeFeed(3, from: number * 3, at: noon + Double(number))
          _ = try store.replace(for: address, with: feed, now: noon + 64)
          #expect(try store.retrieve(for: address)?.images.count == 3)
        }
      }
      try await group.waitForAll()
    }
    // The newest feed wins, in any order.
    #expect(try store.retrieve(for: address) == makeFeed(3, from: 63 * 3, at: noon + 63))
  }
}

extension StoreUnderTest {
  /// The store's location, as its errors name it.
  fileprivate var place: String {
    switch store {
    case let sqlite as SQLiteFeedStore: sqlite.path
    case is VirtualDisk: "the virtual disk"
    case let redis as RedisFeedStore: redis.place
    default: "memory"
    }
  }
}
