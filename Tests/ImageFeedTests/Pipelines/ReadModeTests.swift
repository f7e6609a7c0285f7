import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The source of a load's feed, and the requests to the server.
@Suite(.settled) struct ReadModeTests {
  private let old = makeFeed(2)
  private let new = makeFeed(3, from: 50)

  /// A world with the old feed saved, and the new one on its server.
  private func world(_ kind: WorldKind) throws -> any World {
    let world = kind.make()
    try world.save(old)
    world.serve(.feed(new.images))
    return world
  }

  @Test(arguments: WorldKind.allCases)
  func `staleWhileRevalidate shows the saved feed, then the new one, which is saved`(kind: WorldKind) throws {
    let world = try world(kind)
    let outcome = world.outcome(of: world.loader().load(.staleWhileRevalidate))
    #expect(outcome.values.map(\.images) == [old.images, new.images])
    let sources = outcome.values.map(\.source)
    #expect(sources == [.cache(savedAt: old.timestamp, age: world.age(of: old), reason: .notAsked), .remote])
    #expect(outcome.isFinished && world.requests == 1)
    #expect(try world.savedFeed()?.images == new.images)
  }

  @Test(arguments: WorldKind.allCases)
  func `staleWhileRevalidate shows an unchanged feed once, and renews it`(kind: WorldKind) throws {
    let world = try world(kind)
    world.serve(.feed(old.images))
    world.clock.now += 60
    let outcome = world.outcome(of: world.loader().load(.staleWhileRevalidate))
    #expect(outcome.values.map(\.images) == [old.images])
    #expect(outcome.isFinished && world.requests == 1)
    #expect(try world.savedFeed()?.timestamp == world.clock.now)
  }

  @Test(arguments: WorldKind.allCases)
  func `staleWhileRevalidate fails with the server's error after the saved feed`(kind: WorldKind) throws {
    let world = try world(kind)
    world.serve(Answer(status: 503, body: ""))
    let outcome = world.outcome(of: world.loader().load(.staleWhileRevalidate))
    #expect(outcome.values.map(\.images) == [old.images])
    #expect(outcome.failure == FeedError(remote: .invalidData(.status(503))))
    let none = kind.make()
    let failure = none.outcome(of: none.loader().load(.staleWhileRevalidate)).failure
    #expect(failure == FeedError(remote: .invalidData(.status(503)), cache: .empty))
  }

  @Test(arguments: WorldKind.allCases)
  func `without a saved feed, every mode delivers only the server's`(kind: WorldKind) throws {
    for mode in [
      ReadMode.staleWhileRevalidate, .cacheFirst, .networkFirst, .networkOnly, .minimumInterval(.seconds(9)),
    ] {
      let world = kind.make()
      world.serve(.feed(new.images))
      let outcome = world.outcome(of: world.loader().load(mode))
      #expect(outcome.values == [Feed(images: new.images, source: .remote)], "\(mode)")
      #expect(outcome.isFinished && world.requests == 1, "\(mode)")
    }
  }

  @Test(arguments: WorldKind.allCases)
  func `cacheOnly makes no request and deletes nothing`(kind: WorldKind) throws {
    let world = try world(kind)
    #expect(world.outcome(of: world.loader().load(.cacheOnly)).values.map(\.images) == [old.images])
    world.clock.now += 8 * 86_400
    let expired = world.outcome(of: world.loader().load(.cacheOnly))
    #expect(expired.values == [])
    #expect(expired.failure == FeedError(remote: .notAsked, cache: .expired(age: world.age(of: old))))
    let any = world.outcome(of: world.loader { $0.maxAge = nil }.load(.cacheOnly))
    #expect(any.values.map(\.images) == [old.images])
    #expect(world.requests == 0)
  }

  @Test(arguments: WorldKind.allCases)
  func `networkOnly never shows the saved feed, but saves what it shows`(kind: WorldKind) throws {
    let world = try world(kind)
    #expect(world.outcome(of: world.loader().load(.networkOnly)).values.map(\.source) == [.remote])
    #expect(try world.savedFeed()?.images == new.images)
    world.serve(Answer(status: 500, body: ""))
    let failed = world.outcome(of: world.loader().load(.networkOnly))
    #expect(failed.values == [] && failed.failure == FeedError(remote: .invalidData(.status(500))))
  }

  @Test(arguments: WorldKind.allCases)
  func `cacheFirst makes a request when the saved feed has expired`(kind: WorldKind) throws {
    let world = try world(kind)
    #expect(world.outcome(of: world.loader().load(.cacheFirst)).values.map(\.images) == [old.images])
    #expect(world.requests == 0)
    world.clock.now += 8 * 86_400
    #expect(world.outcome(of: world.loader().load(.cacheFirst)).values.map(\.images) == [new.images])
    #expect(world.requests == 1)
  }

  @Test(arguments: WorldKind.allCases)
  func `minimumInterval makes a request when the interval has passed, to the second`(kind: WorldKind) throws {
    let world = try world(kind)
    let start = old.timestamp
    let due = RemoteFeedError.notDue(until: start + 600, "it is requested at most once every 10m")
    for (after, isAsked) in [(599.0, false), (600, true), (601, false), (1_199, false), (1_200, true)] {
      world.clock.now = start + after
      let requests = world.requests
      let outcome = world.outcome(of: world.loader().load(.minimumInterval(.seconds(600))))
      #expect(outcome.values.count == 1 && outcome.isFinished)
      #expect(world.requests - requests == (isAsked ? 1 : 0), "after \(after) s")
      if after == 599 {
        #expect(outcome.values[0].source == .cache(savedAt: start, age: .seconds(599), reason: due))
      }
    }
  }

  @Test func `minimumInterval doesn't show an expired feed`() throws {
    let world = try world(.virtual)
    world.clock.now = old.timestamp + 60
    world.serve(Answer(status: 500, body: ""))
    let loader = world.loader { $0.maxAge = .seconds(30) }
    #expect(world.outcome(of: loader.load(.minimumInterval(.seconds(600)))).failure != nil)
    #expect(world.requests == 1)
  }

  @Test func `ManyFeeds accepts a read mode`() throws {
    let world = try world(.virtual)
    let reports = world.outcome(of: ManyFeeds([world.loader()]).load(.cacheOnly)).values
    #expect(reports.map(\.feed?.images) == [old.images])
    #expect(world.requests == 0)
  }
}

extension World {
  fileprivate func age(of feed: CachedFeed) -> Duration { FeedCachePolicy.age(of: feed.timestamp, now: clock.now) }
}
