import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The five scenarios of the specification, in both worlds.
@Suite("The five scenarios", .settled)
struct ScenarioTests {
  private let latest = makeFeed(3, from: 100).images
  private let older = makeFeed(2)

  @Test(arguments: WorldKind.allCases)
  func `connectivity, feed requested: the latest remote feed is delivered and replaces the cache`(kind: WorldKind)
    throws
  {
    let world = kind.make()
    try world.save(older)
    world.serve(.feed(latest))
    world.clock.now = noon.addingTimeInterval(60)

    let outcome = world.outcome(of: world.loader().load())

    #expect(outcome.values == [Feed(images: latest, source: .remote)])
    #expect(outcome.isFinished)
    #expect(try world.savedFeed()?.images == latest)
    #expect(try world.savedFeed()?.timestamp == world.clock.now)
  }

  @Test(arguments: WorldKind.allCases)
  func `each subscription makes one request`(kind: WorldKind) {
    let world = kind.make()
    world.serve(.feed(latest))

    let load = world.loader().load()
    world.run()
    #expect(world.requests == 0)

    _ = world.outcome(of: load)
    #expect(world.requests == 1)
    _ = world.outcome(of: load)
    #expect(world.requests == 2)
  }

  @Test(arguments: WorldKind.allCases)
  func `no connectivity, a cached feed younger than seven days: the saved feed is delivered`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(older)
    world.disconnect()
    world.clock.now = noon.addingTimeInterval(6 * 86_400)

    let outcome = world.outcome(of: world.loader().load())

    let feed = try #require(outcome.values.first)
    #expect(outcome.values.count == 1)
    #expect(outcome.isFinished)
    #expect(feed.images == older.images)
    guard case .cache(let savedAt, let age, reason: .connectivity) = feed.source else {
      Issue.record("The feed must say that it is a saved one: \(feed.source)")
      return
    }
    #expect(savedAt == noon)
    #expect(age == .seconds(6 * 86_400))
    #expect(try world.savedFeed() == older)
  }

  @Test(arguments: WorldKind.allCases)
  func `no connectivity, a cached feed seven days old: an error message, and the cache is kept`(kind: WorldKind)
    throws
  {
    let world = kind.make()
    try world.save(older)
    world.disconnect()
    world.clock.now = noon.addingTimeInterval(7 * 86_400)

    let outcome = world.outcome(of: world.loader().load())

    #expect(outcome.values == [])
    let error = try #require(outcome.failure)
    #expect(error.cache == .expired(age: .seconds(604_800)))
    #expect("\(error)".hasSuffix(" The saved feed has expired."))
    #expect("\(error)".contains("127.0.0.1") || "\(error)".contains("example.com"))
    #expect(try world.savedFeed() == older)
  }

  @Test(arguments: WorldKind.allCases)
  func `no connectivity, empty cache: an error message`(kind: WorldKind) throws {
    let world = kind.make()
    world.disconnect()

    let outcome = world.outcome(of: world.loader().load())

    #expect(outcome.values == [])
    let error = try #require(outcome.failure)
    guard case .connectivity = error.remote else {
      Issue.record("The error must be what the remote said: \(error)")
      return
    }
    #expect(error.cache == .empty)
    #expect("\(error)".hasSuffix(" No feed is saved for this URL."))
  }

  @Test(arguments: WorldKind.allCases)
  func `no connectivity, a cached feed of any age, no maximum age: the saved feed is delivered`(kind: WorldKind) throws
  {
    let world = kind.make()
    try world.save(older)
    world.disconnect()
    world.clock.now = noon.addingTimeInterval(10 * 365 * 86_400)

    let outcome = world.outcome(of: world.loader { $0.maxAge = nil }.load())

    #expect(outcome.values.map(\.images) == [older.images])
    #expect(outcome.isFinished)
  }

  @Test(arguments: WorldKind.allCases, [(604_799, true), (604_800, false), (604_801, false)])
  func `at the age boundary, a feed a second younger is shown, and one at or over it isn't`(
    kind: WorldKind, age: (seconds: Int, isShown: Bool)
  ) throws {
    let world = kind.make()
    try world.save(older)
    world.disconnect()
    world.clock.now = noon.addingTimeInterval(Double(age.seconds))

    let outcome = world.outcome(of: world.loader().load())

    #expect(outcome.values.isEmpty == !age.isShown)
    #expect(outcome.isFinished == age.isShown)
  }
}
