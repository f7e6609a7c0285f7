public import FeedFormats
public import FeedStream
public import Foundation

/// The image feed of one URL: loaded from its server, saved, and taken from the cache when the server is
/// unavailable.
///
///     let loop = EventLoop()
///     let cache = FeedCache(store: SQLiteFeedStore(path: "feeds.db"), on: loop)
///     let loader = FeedLoader(url, client: CurlHTTPClient(on: loop), cache: cache, on: loop)
///     let subscription = loader.load().sink(receiveCompletion: { print($0) }, receiveValue: { print($0.images) })
///     loop.run()
///
/// Use the loader only on its scheduler's thread, like a stream.
public struct FeedLoader {
  /// Options; each has a default.
  public struct Options {
    /// The age at which a saved feed expires; `nil` for never. Seven days by default.
    public var maxAge: Duration? = FeedCachePolicy.defaultMaxAge
    /// The failures after which the saved feed is shown. All by default.
    public var fallback = FallbackPolicy.any
    /// The maximum duration of a request. 30 seconds by default.
    public var timeout: Duration = .seconds(30)
    /// The retries when no complete response arrives (``RemoteFeedError/isWorthRetrying``). None by default.
    public var retry = RetryPolicy.immediate(limit: 0)
    /// The maximum accepted body size, in bytes, after decompression. 32 MiB by default.
    public var maxBodyBytes = 32 << 20
    /// The accepted formats; the first that recognizes a body reads it. Essential Feed JSON, RSS, Atom and JSON Feed by
    /// default.
    public var formats: [any FeedFormat] = .web
    /// The limits of a body.
    public var limits = FeedLimits()
    /// Called with the error of a failed save. Does nothing by default: the feed is shown in any case.
    public var report: (FeedStoreError) -> Void = { _ in }

    /// Called with the feed that is loaded instead, when a web page at the URL links to one. Does nothing by default.
    public var onFeedFound: (FeedLink) -> Void = { _ in }

    /// Keeps the images that were found on the pages of items without an image; `nil` to show no such images.
    package var pageImages: PageImageBook?

    public init() {}
  }

  public let url: URL
  let requests: FeedRequests
  let cache: FeedCache
  let saved: LocalFeed
  let scheduler: any LoopScheduler
  let options: Options

  /// - Parameters:
  ///   - url: the feed's URL, http or https.
  ///   - scheduler: an `EventLoop`, or virtual time in a test.
  public init(
    _ url: URL, client: any HTTPClient, cache: FeedCache, on scheduler: any LoopScheduler, options: Options = Options()
  ) {
    self.url = url
    requests = FeedRequests(of: url, client: client, on: scheduler, options: options)
    self.cache = cache
    saved = cache.feed(at: url)
    self.scheduler = scheduler
    self.options = options
  }

  /// The feed: the latest from the server, or else the saved one, if it has not expired. If neither is available and
  /// the server's feed is cut off, the part that arrived is delivered (``LoadSource/part(reason:)``), but not saved.
  ///
  /// Each subscription makes one request, a second if the first leads to a web page that links to a feed, and retries
  /// according to ``Options/retry``. The request includes the saved feed's validators, so that the server needn't send
  /// an unchanged feed again. Every eight days, and when the validators can't be used, the request is unconditional. On
  /// success, the saved feed is replaced or renewed; the completion waits for that save. Otherwise, it is kept, even if
  /// it has expired according to ``Options/maxAge``; ``LocalFeed/validate(maxAge:)`` deletes it. **Demand:** the feed
  /// is held until requested. **Failure:** ``FeedError`` if there is nothing to show. **Cancellation:** closes the request
  /// immediately; a requested save is completed.
  public func load() -> AnyPublisher<Feed, FeedError> {
    latest
      .fallback(to: saved.load(maxAge: options.maxAge), after: options.fallback, now: cache.now)
      .showingParts()
      .eraseToAnyPublisher()
  }

  var latest: some Publisher<FeedImages, RemoteFeedError> {
    saved.revalidated { known in
      requests.images(at: url, since: known)
        .followingPages(reportingTo: options.onFeedFound) { feed in requests.images(at: feed, since: known) }
        .caching(to: saved, since: known, reportingTo: options.report)
    }
    .retry(options.retry, scheduler: scheduler) { $0.isWorthRetrying }
  }
}
