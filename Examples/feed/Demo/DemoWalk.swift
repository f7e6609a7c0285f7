import FeedStream
import Foundation
import ImageFeed
import PlainText
import Samples

/// Walks the five scenarios of the specification, with real HTTP and a real cache.
///
/// The actor runs on the event loop, as do the streams that it subscribes to.
actor DemoWalk {
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private let loop: EventLoop
  private let path: String
  private let origin: LoopbackOrigin
  private let clock = DemoClock(Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down)))
  private let style: Style
  private var report: DemoReport
  private var url = URL(string: "http://127.0.0.1/")!

  private static let week: TimeInterval = 604_800

  init(on loop: EventLoop, cacheAt path: String, style: Style, write: @escaping @Sendable (String) -> Void)
    throws
  {
    origin = try LoopbackOrigin(serving: CaseStudyFeed.body)
    self.loop = loop
    self.path = path
    self.style = style
    report = DemoReport(style: style, write: write)
  }

  /// - Returns: true if every scenario had the specified result.
  func run() async throws -> Bool {
    url = try await origin.start()
    let store = SQLiteFeedStore(path: path)
    let cache = FeedCache(store: store, on: loop, now: { [clock] in clock.now })
    var configuration = CurlHTTPClient.Configuration()
    // The origin is on this machine, so ignore the proxy in the environment.
    configuration.usesProxies = false
    let client = CurlHTTPClient(on: loop, configuration)
    report.say("A server at \(url) serves eight images in Essential Feed JSON.")
    report.say("The cache is \(path).")

    await remote(client, cache)
    await origin.stop()
    await young(client, cache)
    await expired(client, cache)
    await empty(client, cache)
    await anyAge(client, cache)

    client.close()
    store.close()
    report.conclude()
    return report.failures == 0
  }
}

extension DemoWalk {
  private func remote(_ client: CurlHTTPClient, _ cache: FeedCache) async {
    report.scenario(1, "Connectivity, feed requested", "the latest remote feed is delivered and replaces the cache.")
    let yesterday = FeedImage(id: UUID(), description: "Yesterday's image", url: url)
    _ = await cache.feed(at: url).save([yesterday], asked: clock.now - 86_400).outcome()
    let pipeline = loader(client, cache).load()
    let before = await origin.requestCount
    let result = await pipeline.outcome()
    show(result)
    let saved = await cache.feed(at: url).retrieve().outcome().values.first
    let requests = await origin.requestCount
    report.check("nothing was requested before the subscription", before == 0)
    report.check("one subscription made one request", requests == 1)
    report.check("the feed came from the server, once", result.values.map(\.source) == [.remote])
    report.check(
      "its images are the server's, in the same order", result.values.first.map { isCaseStudy($0.images) } ?? false)
    report.check(
      "it replaced the cache: yesterday's image is gone", saved?.images == result.values.first?.images)
    report.check("its timestamp is the time of the request", saved?.timestamp == clock.now)
  }

  private func young(_ client: CurlHTTPClient, _ cache: FeedCache) async {
    report.scenario(
      2, "No connectivity, a cached feed younger than seven days", "the saved feed is delivered.")
    clock.advance(by: Self.week - 1)
    report.say("   The server is stopped, and time passes: the saved feed is one second short of seven days old.")
    let result = await loader(client, cache).load().outcome()
    show(result)
    checkSaved(result, age: .seconds(Self.week - 1))
  }

  private func expired(_ client: CurlHTTPClient, _ cache: FeedCache) async {
    report.scenario(3, "No connectivity, a cached feed seven days old or more", "an error message.")
    clock.advance(by: 1)
    report.say("   The clock is advanced by one second: the saved feed is exactly seven days old.")
    let found = await cache.feed(at: url).retrieve().outcome().values.first
    let result = await loader(client, cache).load().outcome()
    show(result)
    report.check(
      "a feed saved seven days ago is found", found.map { clock.now.timeIntervalSince($0.timestamp) } == Self.week)
    checkFailed(result, cache: .expired(age: .seconds(Self.week)))
    let left = await cache.feed(at: url).retrieve().outcome()
    report.check("the expired feed is kept", left.values == found.map { [$0] })
  }

  private func empty(_ client: CurlHTTPClient, _ cache: FeedCache) async {
    report.scenario(4, "No connectivity, empty cache", "an error message.")
    let validation = await cache.feed(at: url).validate().outcome()
    report.say("   The cache is validated, which deletes the expired feed.")
    report.check(
      "the expired feed is deleted", validation.values == [.deletedExpired(age: .seconds(Self.week))])
    let found = await cache.feed(at: url).retrieve().outcome()
    let result = await loader(client, cache).load().outcome()
    show(result)
    report.check("nothing was saved", found.values.isEmpty && found.error == nil)
    checkFailed(result, cache: .empty)
  }

  private func anyAge(_ client: CurlHTTPClient, _ cache: FeedCache) async {
    report.scenario(
      5, "No connectivity, a cached feed of any age, when the caller accepts any age", "the saved feed is delivered.")
    do {
      try await origin.start()
    } catch {
      report.check("the server is back (\(error))", false)
    }
    _ = await loader(client, cache).load().outcome()
    await origin.stop()
    clock.advance(by: 400 * 86_400)
    report.say("   The feed was loaded and saved again; then the server was stopped, and 400 days passed.")
    let result = await loader(client, cache, maxAge: nil).load().outcome()
    show(result)
    checkSaved(result, age: .seconds(400 * 86_400))
  }
}

extension DemoWalk {
  private func loader(
    _ client: CurlHTTPClient, _ cache: FeedCache, maxAge: Duration? = FeedCachePolicy.defaultMaxAge
  ) -> FeedLoader {
    var options = FeedLoader.Options()
    options.maxAge = maxAge
    options.timeout = .seconds(10)
    options.report = { [self] error in assumeIsolated { $0.report.check("the feed was saved (\(error))", false) } }
    return FeedLoader(url, client: client, cache: cache, on: loop, options: options)
  }

  /// Shows what a user of `feed load` sees.
  private func show(_ result: Outcome<Feed, FeedError>) {
    for feed in result.values { report.show(FeedText(address: url, style: style).headline(of: feed)) }
    if let first = result.values.first, first.source.isRemote {
      report.show(FeedText(address: url, style: style).entries(of: first.images))
    }
    if let error = result.error {
      let failure = NothingToShow(address: url, error: error, maxAge: FeedCachePolicy.defaultMaxAge)
      report.show(failure.text(style))
    }
  }

  private func checkSaved(_ result: Outcome<Feed, FeedError>, age expected: Duration) {
    report.check("one feed was delivered, and no error", result.values.count == 1 && result.error == nil)
    guard case .cache(_, let age, let reason)? = result.values.first?.source else {
      return report.check("it came from the cache", false)
    }
    report.check("the reason is a lack of connectivity", isConnectivity(reason))
    report.check("its age is shown: \(expected.words)", age == expected)
    report.check("it has the eight images", isCaseStudy(result.values[0].images))
  }

  private func checkFailed(_ result: Outcome<Feed, FeedError>, cache: CacheMiss) {
    report.check("no feed was delivered", result.values.isEmpty)
    report.check("the error names the state of the cache", result.error?.cache == cache)
    report.check("the error is a lack of connectivity", result.error.map { isConnectivity($0.remote) } ?? false)
  }

  private func isConnectivity(_ error: RemoteFeedError) -> Bool {
    if case .connectivity = error { true } else { false }
  }

  private func isCaseStudy(_ images: FeedImages) -> Bool {
    images.map(\.url.absoluteString) == (1...8).map { "https://url-\($0).com" }
  }
}
