import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Every store's handling of a renewal, which records that a saved feed has not changed.
@Suite(.settled) struct FeedStoreRenewalTests {
  private static let validators = FeedValidators(
    etag: "\"1\"", lastModified: "then", source: otherAddress, digest: BodyDigest(value: .max), wholeAsked: noon)
  private static let feed = CachedFeed(images: makeFeed().images, timestamp: noon, validators: validators)
  private static let renewed = CachedFeed(
    images: makeFeed().images, timestamp: noon + 60, validators: FeedValidators(etag: "\"2\""))

  private func renewal(at moment: Date = noon + 60, since: FeedValidators = validators) -> FeedRenewal {
    FeedRenewal(timestamp: moment, since: since, validators: Self.renewed.validators)
  }

  @Test(arguments: StoreKind.allCases) func `a summary has everything except the images`(kind: StoreKind) throws {
    let subject = kind.make()
    defer { withExtendedLifetime(subject) {} }
    let store = subject.store
    #expect(try store.summary(for: address) == nil)
    try store.replace(for: address, with: Self.feed)
    #expect(
      try store.summary(for: address)
        == CachedFeedSummary(address: address, timestamp: noon, imageCount: 3, validators: Self.validators))
    #expect(try store.summary(for: otherAddress) == nil)
  }

  @Test(arguments: StoreKind.allCases) func `a renewal updates the timestamp and the validators`(kind: StoreKind) throws
  {
    let subject = kind.make()
    defer { withExtendedLifetime(subject) {} }
    let store = subject.store
    try store.replace(for: address, with: Self.feed)
    #expect(try store.renew(for: address, with: renewal(), now: noon + 60) == .renewed)
    #expect(try store.retrieve(for: address) == Self.renewed)
  }

  @Test(arguments: StoreKind.allCases) func `a renewal for a missing or replaced feed has no effect`(kind: StoreKind)
    throws
  {
    let subject = kind.make()
    defer { withExtendedLifetime(subject) {} }
    let store = subject.store
    #expect(try store.renew(for: address, with: renewal(), now: noon + 60) == nil)
    try store.replace(for: address, with: makeFeed())
    #expect(try store.renew(for: address, with: renewal(), now: noon + 60) == nil)
    #expect(try store.retrieve(for: address) == makeFeed())
  }

  @Test(arguments: StoreKind.allCases) func `an older renewal doesn't set back a feed's timestamp`(kind: StoreKind)
    throws
  {
    let subject = kind.make()
    defer { withExtendedLifetime(subject) {} }
    let store = subject.store
    try store.replace(for: address, with: Self.feed)
    #expect(try store.renew(for: address, with: renewal(at: noon - 1), now: noon + 60) == .superseded(by: noon))
    #expect(try store.retrieve(for: address) == Self.feed)
  }

  @Test(arguments: StoreKind.allCases) func `a failing renewal changes nothing`(kind: StoreKind) throws {
    let subject = kind.make()
    try subject.store.replace(for: address, with: Self.feed)
    try subject.fail(.insertion)
    do {
      _ = try subject.store.renew(for: address, with: renewal(), now: noon + 60)
      // In SQLite, an insertion is made to fail through images, which a renewal doesn't write.
      #expect(kind == .sqlite)
    } catch {
      guard case .insertion = error else {
        Issue.record("not an insertion error: \(error)")
        return
      }
      try subject.recover()
      #expect(try subject.store.retrieve(for: address) == Self.feed)
    }
  }
}
