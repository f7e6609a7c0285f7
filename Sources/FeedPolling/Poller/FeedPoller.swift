public import FeedStream
public import Foundation
public import ImageFeed

/// Polls many feeds, as rarely as their servers request and as often as their users want.
///
///     let store = SQLiteFeedStore(path: "feeds.db")
///     let cache = FeedCache(store: store, on: loop)
///     let poller = FeedPoller(addresses.map { PolledAddress($0) }, client: client, cache: cache, store: store, on: loop)
///     let subscription = poller.sink { print($0.address, $0.result) }
///
/// Each subscription polls separately. A feed that is due is requested conditionally. ``Schedule`` decides when it is
/// due next, and the store records the due time for other processes and for the next run. A host gets one request at a
/// time, with a second between requests; when the host requests a pause, all of its feeds wait. `docs/Polling.md`
/// describes the rules.
///
/// At the beginning, the saved copy of each feed that is not due yet is delivered, and of each feed whose host is
/// paused for more than a minute. After that, a feed is delivered when it changes, when it starts or stops coming from
/// the cache, and when its error changes. Finishes when no feeds are left to poll, because all of them are gone (status
/// 410). **Demand:** a poll begins only when its result is
/// requested; finished results wait. As a result, a subscriber that requests one value at a time polls one feed at a
/// time. To poll several at once, add a buffer with `buffer(size:prefetch:whenFull:)`. **Failure:** none: a feed that
/// cannot be shown is delivered as a result.
/// **Cancellation:** cancels running requests immediately; the state of polling is saved.
///
/// Use it on its scheduler's thread.
public struct FeedPoller {
  /// Options; each has a default.
  public struct Options {
    /// The maximum number of concurrent requests. 64 by default; the client has its own limits.
    public var maxRunning = 64
    /// The time between the end of a request to a host and the next request to that host, unless a feed's own interval
    /// is shorter. One second by default.
    public var gap: Duration = .seconds(1)
    /// Determines how due times are spread; chosen by the system by default.
    public var seed = UInt64.random(in: 0 ... .max)
    /// Receives each decision when it is made. Does nothing by default.
    public var onDecision: (URL, PollDecision) -> Void = { _, _ in }
    /// Receives the outcome of each poll, for metrics. Does nothing by default.
    public var onOutcome: (URL, PollOutcome) -> Void = { _, _ in }
    /// Receives the numbers of due, running and failing feeds, and the next due time, when one of them changes. Does
    /// nothing by default.
    public var onProgress: (PollingProgress) -> Void = { _ in }
    /// Receives a host, with its port if that isn't the scheme's default, and a pause of more than a minute that delays
    /// its due feeds. Does nothing by default.
    public var onPause: (String, HostPause) -> Void = { _, _ in }
    /// Receives the store's error when the store fails; polling continues without it. Does nothing by default.
    public var report: (FeedStoreError) -> Void = { _ in }

    public init() {}
  }

  let feeds: [PolledAddress]
  let client: any HTTPClient
  let cache: FeedCache
  let store: any PollStore
  let scheduler: any LoopScheduler
  let options: Options
  /// The lists that replace `feeds`; `nil` if there are none.
  private(set) var lists: AnyPublisher<[PolledAddress], Never>?
  /// The subscriber to hubs' announcements of changes, if there is one.
  private(set) var hubs: HubSubscriber?

  /// The minimum time between two polls of a feed whose hub announces changes: a minute.
  public static let announcedGap = Duration.seconds(60)

  /// - Parameters:
  ///   - feeds: the feeds; duplicate URLs are ignored.
  ///   - client: makes the requests.
  ///   - cache: saves the feeds.
  ///   - store: saves the state of polling; usually the store that `cache` uses.
  ///   - scheduler: the loop that everything runs on; virtual time in a test.
  public init(
    _ feeds: [PolledAddress], client: any HTTPClient, cache: FeedCache, store: any PollStore,
    on scheduler: any LoopScheduler, options: Options = Options()
  ) {
    precondition(
      options.maxRunning > 0, "FeedPoller: maxRunning is \(options.maxRunning), so no request could run; use 1 or more")
    var seen: Set<URL> = []
    self.feeds = feeds.filter { seen.insert($0.address).inserted }
    self.client = client
    self.cache = cache
    self.store = store
    self.scheduler = scheduler
    self.options = options
  }
}

/// The state of a poller.
public struct PollingProgress: Hashable, Sendable {
  /// The total number of feeds.
  public var feeds = 0
  /// The number of feeds that are due and waiting for their turn or their host.
  public var due = 0
  /// The number of feeds that are being polled.
  public var running = 0
  /// The number of feeds whose last attempt failed.
  public var failing = 0
  /// The time at which the next feed becomes due, or the host of a feed that is due opens. It may be past, and is `nil`
  /// if no feed is waiting.
  public var next: Date?

  public init() {}
}

/// A feed to poll.
public struct PolledAddress {
  public var address: URL
  /// The minimum interval between two polls; `nil` to adapt to how often the feed changes. One hour by default.
  public var interval: Duration?
  /// The options for loading the feed. Their `retry` has no effect: ``Schedule`` sets the time of the next poll.
  public var options: FeedLoader.Options
  /// The client for the feed's requests, instead of the poller's.
  public var client: (any HTTPClient)?

  /// The default interval: an hour.
  public static let defaultInterval = Duration.seconds(3600)

  public init(
    _ address: URL, every interval: Duration? = defaultInterval, options: FeedLoader.Options = FeedLoader.Options()
  ) {
    precondition(
      interval ?? .seconds(1) > .zero,
      "PolledAddress: the interval is zero or less; use more than zero, or nil for an adaptive interval")
    self.address = address.absoluteURL
    self.interval = interval
    self.options = options
  }
}

extension FeedPoller: Publisher, _DeliversAtHome {
  public typealias Output = FeedReport
  public typealias Failure = Never

  public func receive<S: Subscriber>(subscriber: S) where S.Input == FeedReport, S.Failure == Never {
    let run = PollingRun(self) {
      subscriber.receive($0)
    } finish: {
      subscriber.receive(completion: .finished)
    }
    subscriber.receive(subscription: run)
  }
}

extension FeedPoller {
  /// A poller like this one, with a changing list of feeds.
  ///
  /// Each list replaces the one before it. A feed that stays in the list keeps its state; a new interval applies from
  /// its next poll on. The result of a removed feed's request is saved but not delivered. The poller finishes only
  /// after `lists` has completed, too.
  ///
  /// - Parameter lists: delivers the list of all feeds each time it changes; it is subscribed to with unlimited demand.
  public func following(_ lists: some Publisher<[PolledAddress], Never>) -> FeedPoller {
    var copy = self
    copy.lists = lists.eraseToAnyPublisher()
    return copy
  }

  /// A poller like this one, with subscriptions at the hubs that feeds name. A feed whose hub announces a change is
  /// polled soon; while the lease of its subscription is valid, the feed is otherwise polled once a day.
  public func notified(by hubs: HubSubscriber) -> FeedPoller {
    hubs.visits = HostVisits(store: store, cache: cache, on: scheduler, report: options.report)
    var copy = self
    copy.hubs = hubs
    return copy
  }

  func gap(for feed: PolledAddress) -> Duration { Swift.min(options.gap, feed.interval ?? options.gap) }

  /// The value, if the result is a success; otherwise, reports the failure and returns `nil`.
  func unwrap<Value>(_ result: Result<Value, FeedStoreError>) -> Value? {
    switch result {
    case .success(let value): return value
    case .failure(let error):
      options.report(error)
      return nil
    }
  }
}
