import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The use cases of the cache, each a separate publisher.
@Suite("Load, validate and save the local feed", .settled)
struct LocalFeedTests {
  private let feed = makeFeed(2)

  // MARK: Load

  @Test(arguments: WorldKind.allCases)
  func `loading an empty cache delivers no feed`(kind: WorldKind) {
    let outcome = kind.make().loadSaved()
    #expect(outcome.values == [])
    #expect(outcome.failure == .empty)
  }

  @Test(arguments: WorldKind.allCases, [-1, 0, 1])
  func `loading delivers a feed a second younger than the maximum age, and none at or over it`(
    kind: WorldKind, secondsOver: Int
  ) throws {
    let world = kind.make()
    try world.save(feed)
    world.clock.now = noon.addingTimeInterval(604_800 + Double(secondsOver))

    let outcome = world.loadSaved()

    #expect(outcome.values == (secondsOver < 0 ? [feed] : []))
    #expect(outcome.failure == (secondsOver < 0 ? nil : .expired(age: .seconds(604_800 + secondsOver))))
    #expect(try world.savedFeed() == feed)
  }

  @Test(arguments: WorldKind.allCases)
  func `loading fails with a retrieval error, twice, and changes nothing`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)
    try world.store.fail(.retrieval)

    for _ in 0..<2 {
      let error = try #require(world.loadSaved().failure)
      guard case .failed(.retrieval) = error else {
        Issue.record("A retrieval error is expected: \(error)")
        return
      }
    }
    try world.store.recover()
    #expect(try world.savedFeed() == feed)
  }

  @Test(arguments: WorldKind.allCases)
  func `an expired feed is kept, and delivered to a load with a longer maximum age`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)
    world.clock.now = noon.addingTimeInterval(8 * 86_400)

    for _ in 0..<2 { #expect(world.loadSaved().failure == .expired(age: .seconds(8 * 86_400))) }
    #expect(world.outcome(of: world.saved.load(maxAge: nil)).values == [feed])
  }

  @Test(arguments: WorldKind.allCases)
  func `a feed from the future is kept, and reported with its negative age`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)
    world.clock.now = noon.addingTimeInterval(-301)

    let miss = try #require(world.loadSaved().failure)
    #expect(miss == .expired(age: .seconds(-301)))
    #expect("\(miss)".contains("dated in the future") && !"\(miss)".contains("expired"))
    #expect(try world.savedFeed() == feed)
  }

  // MARK: Validate

  @Test(arguments: WorldKind.allCases, [-1, 0, 1])
  func `validation deletes an expired feed, and only that`(kind: WorldKind, secondsOver: Int) throws {
    let world = kind.make()
    #expect(world.outcome(of: world.saved.validate()).values == [.empty])
    try world.save(feed)
    world.clock.now = noon.addingTimeInterval(604_800 + Double(secondsOver))

    let outcome = world.outcome(of: world.saved.validate())

    #expect(outcome.values == [secondsOver < 0 ? .valid : .deletedExpired(age: .seconds(604_800 + secondsOver))])
    #expect(try world.savedFeed() == (secondsOver < 0 ? feed : nil))
  }

  @Test(arguments: WorldKind.allCases)
  func `validation deletes a feed that can't be retrieved`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)
    try world.store.fail(.retrieval)

    let outcome = world.outcome(of: world.saved.validate())

    guard case .deletedUnreadable(.retrieval)? = outcome.values.first else {
      Issue.record("It must say what was unreadable: \(outcome)")
      return
    }
    try world.store.recover()
    #expect(try world.savedFeed() == nil)
  }

  @Test(arguments: WorldKind.allCases)
  func `validation fails with a deletion error`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)
    world.clock.now = noon.addingTimeInterval(604_800)
    try world.store.fail(.deletion)

    let error = try #require(world.outcome(of: world.saved.validate()).failure)

    guard case .deletion = error else {
      Issue.record("A deletion error is expected: \(error)")
      return
    }
    try world.store.recover()
    #expect(try world.savedFeed() == feed)
  }

  // MARK: Save

  @Test(arguments: WorldKind.allCases)
  func `saving replaces the saved feed, with the current time`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)
    world.clock.now = noon.addingTimeInterval(10)
    let images = makeFeed(3, from: 20).images

    let outcome = world.outcome(of: world.saved.save(images))

    #expect(outcome.values == [.replaced])
    #expect(outcome.isFinished)
    #expect(try world.savedFeed() == CachedFeed(images: images, timestamp: world.clock.now))
  }

  @Test(arguments: WorldKind.allCases, [FeedStoreError.Step.deletion, .insertion])
  func `saving fails with a deletion or an insertion error, and keeps the saved feed`(
    kind: WorldKind, step: FeedStoreError.Step
  ) throws {
    let world = kind.make()
    try world.save(feed)
    try world.store.fail(step)

    let error = try #require(world.outcome(of: world.saved.save(makeFeed(3, from: 20).images)).failure)

    switch (step, error) {
    case (.deletion, .deletion), (.insertion, .insertion): break
    default: Issue.record("The error must name the step \(step): \(error)")
    }
    try world.store.recover()
    #expect(try world.savedFeed() == feed)
  }

  @Test(arguments: WorldKind.allCases)
  func `a feed that was requested earlier and arrives late doesn't replace a newer one`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(feed)

    let late = world.saved.save(makeFeed(3, from: 20).images, asked: noon.addingTimeInterval(-60))

    #expect(world.outcome(of: late).values == [.superseded(by: noon)])
    #expect(try world.savedFeed() == feed)
  }

  @Test(arguments: WorldKind.allCases)
  func `saves run one at a time, in order`(kind: WorldKind) throws {
    let world = kind.make()
    let saved = world.saved
    var order: [Int] = []
    var subscriptions: [AnyCancellable] = []
    for number in 0..<20 {
      saved.save(makeFeed(1, from: number).images)
        .sink { _ in
          order.append(number)
        } receiveValue: { _ in
        }
        .store(in: &subscriptions)
    }
    world.run()

    #expect(order == Array(0..<20))
    #expect(try world.savedFeed()?.images == makeFeed(1, from: 19).images)
  }
}

extension World {
  fileprivate func loadSaved() -> Outcome<CachedFeed, CacheMiss> { outcome(of: saved.load()) }
}
