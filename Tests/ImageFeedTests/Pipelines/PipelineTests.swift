import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// Behavior that the specification leaves open, and that the design defines.
@Suite("The pipeline", .settled)
struct PipelineTests {
  private let saved = makeFeed(2)

  @Test(arguments: WorldKind.allCases)
  func `invalid data falls back to the saved feed, like a lost connection`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(saved)
    world.serve(Answer(body: "not a feed"))

    let outcome = world.outcome(of: world.loader().load())

    #expect(outcome.values.map(\.images) == [saved.images])
    #expect(try world.savedFeed() == saved)
  }

  @Test(arguments: WorldKind.allCases)
  func `with fallback .connectivity, invalid data fails the load`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(saved)
    world.serve(Answer(status: 500, body: ""))

    let outcome = world.outcome(of: world.loader { $0.fallback = .connectivity }.load())

    #expect(outcome.values == [])
    #expect(outcome.failure == FeedError(remote: .invalidData(.status(500))))
    #expect(try world.savedFeed() == saved)
  }

  @Test(arguments: WorldKind.allCases)
  func `with fallback .connectivity, a body over the limit falls back to the saved feed`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(saved)
    world.serve(.feed(makeFeed(50).images))

    let loader = world.loader {
      $0.fallback = .connectivity
      $0.maxBodyBytes = 100
    }

    #expect(world.outcome(of: loader.load()).values.map(\.images) == [saved.images])
    #expect(try world.savedFeed() == saved)
  }

  @Test(arguments: WorldKind.allCases)
  func `a body with too many values falls back to the saved feed`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(saved)
    world.serve(.feed(makeFeed(50).images))

    let outcome = world.outcome(of: world.loader { $0.limits.values = 20 }.load())

    #expect(outcome.values.map(\.images) == [saved.images])
    #expect(try world.savedFeed() == saved)
  }

  @Test(arguments: WorldKind.allCases)
  func `a feed without images is shown, saved, and shown again from the cache`(kind: WorldKind) throws {
    let world = kind.make()
    world.serve(.feed([]))
    #expect(world.outcome(of: world.loader().load()).values == [Feed(images: [], source: .remote)])

    world.disconnect()
    #expect(world.outcome(of: world.loader().load()).values.map(\.images) == [[]])
  }

  @Test(arguments: WorldKind.allCases, [FeedStoreError.Step.deletion, .insertion])
  func `a failing save is reported, and the feed delivered`(kind: WorldKind, step: FeedStoreError.Step) throws {
    let world = kind.make()
    try world.save(saved)
    try world.store.fail(step)
    world.serve(.feed(makeFeed(3, from: 50).images))
    var reported: [FeedStoreError] = []

    let outcome = world.outcome(of: world.loader { $0.report = { reported.append($0) } }.load())

    #expect(outcome.values.map(\.images.count) == [3])
    #expect(outcome.isFinished)
    #expect(reported.count == 1)
    try world.store.recover()
    #expect(try world.savedFeed() == saved)
  }

  @Test(arguments: WorldKind.allCases)
  func `the feed is delivered first, and the completion waits for the save`(kind: WorldKind) throws {
    let world = kind.make()
    world.serve(.feed(saved.images))
    var savedAtValue: CachedFeed?
    var savedAtEnding: CachedFeed?

    let subscription = world.loader().load().sink { _ in
      savedAtEnding = try? world.savedFeed()
    } receiveValue: { _ in
      savedAtValue = try? world.savedFeed()
    }
    world.run()
    subscription.cancel()

    // On a real thread pool, the save may already be running while the feed is delivered.
    if kind == .virtual { #expect(savedAtValue == nil) }
    #expect(savedAtEnding?.images == saved.images)
  }

  @Test(arguments: WorldKind.allCases)
  func `the feed is saved even if the subscriber cancels when it has the feed`(kind: WorldKind) throws {
    let world = kind.make()
    world.serve(.feed(saved.images))

    #expect(world.outcome(of: world.loader().load().prefix(1)).isFinished)

    #expect(try world.savedFeed()?.images == saved.images)
  }

  @Test(arguments: WorldKind.allCases)
  func `a failing cache is reported with the server's failure`(kind: WorldKind) throws {
    let world = kind.make()
    try world.save(saved)
    try world.store.fail(.retrieval)
    world.disconnect()

    let error = try #require(world.outcome(of: world.loader().load()).failure)

    guard case .connectivity = error.remote else {
      Issue.record("The primary error comes first: \(error)")
      return
    }
    guard case .failed(.retrieval) = error.cache else {
      Issue.record("The cache's error is attached: \(error)")
      return
    }
    #expect("\(error)".contains("Cannot read "))
  }

  @Test(arguments: 0..<12)
  func `no event is delivered after cancel returns, at any step of a load`(turns: Int) throws {
    let world = VirtualWorld()
    try world.save(saved)
    world.serve(.feed(saved.images))
    var delivered = 0
    let subscription = world.loader().load().sink { _ in
      delivered += 1
    } receiveValue: { _ in
      delivered += 1
    }
    for _ in 0..<turns { world.step() }
    subscription.cancel()
    let before = delivered
    world.run()
    #expect(delivered == before)
  }

  @Test func `items keep their ids when a feed redirects to a different URL each time`() throws {
    let feed = "<rss><channel><item><guid>1</guid><enclosure url='1.png' type='image/png'/></item></channel></rss>"
    let images = ["https://a.example/?token=1", "https://b.example/?token=2"].compactMap { target in
      let world = VirtualWorld()
      world.serve(Answer(body: feed))
      let client = RedirectedClient(client: world.client, target: URL(string: target)!)
      let loader = FeedLoader(address, client: client, cache: world.cache, on: world.scheduler)
      return world.outcome(of: loader.load()).values.first?.images.first
    }
    #expect(images.map(\.url.absoluteString) == ["https://a.example/1.png", "https://b.example/1.png"])
    #expect(images.map(\.id) == Array(repeating: FeedImage.ID(name: "1", in: address), count: 2))
  }
}

/// A client whose responses come from the target of a redirect.
private struct RedirectedClient: HTTPClient {
  let client: any HTTPClient
  let target: URL

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    client.get(request)
      .map { response in
        var response = response
        response.url = target
        return response
      }
      .eraseToAnyPublisher()
  }
}
