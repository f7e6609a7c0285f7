public import FeedStream
public import Foundation

/// The result of loading one of several feeds, or of a poll.
public struct FeedReport: Sendable {
  /// The feed's URL, as it was passed to the loader or to the poller.
  public var address: URL
  public var result: FeedResult

  public init(address: URL, result: FeedResult) {
    self.address = address
    self.result = result
  }

  /// The feed, if there is one to show.
  public var feed: Feed? { try? result.get() }
}

/// Several feeds, each loaded by its own ``FeedLoader`` and independent of the others.
///
///     let feeds = ManyFeeds(addresses.map { FeedLoader($0, client: client, cache: cache, on: loop) })
///     let subscription = feeds.load().collect().sink { reports in
///       for entry in FeedTimeline(reports.compactMap(FeedTimeline.Member.init)) { print(entry.image.published, entry.name) }
///     }
///
/// Use this value only on its scheduler's thread, like a stream.
public struct ManyFeeds {
  /// The number of feeds that ``load(_:)`` loads at the same time: 64. The client has its own limits, in total and per
  /// host. A request's timeout begins with its load, so the last feeds of a long list don't time out while they wait.
  public static let defaultWidth = 64

  public let loaders: [FeedLoader]
  private let width: Int

  /// - Parameters:
  ///   - loaders: one loader per feed, all on one scheduler.
  ///   - width: the number of feeds that are loaded at the same time; at least one.
  public init(_ loaders: [FeedLoader], width: Int = defaultWidth) {
    precondition(width > 0, "ManyFeeds: a width of \(width) loads nothing; use 1 or more")
    self.loaders = loaders
    self.width = width
  }

  /// Loads each feed once, in the given order, several at a time, and reports each as soon as it arrives.
  ///
  /// Finishes when all are loaded and saved. **Demand:** a report is held until requested. **Failure:** none: a feed
  /// that cannot be shown is delivered as a report. **Cancellation:** closes running requests; requested saves are
  /// completed.
  ///
  /// - Parameter mode: the source of each feed. ``ReadMode/staleWhileRevalidate`` reports a feed up to twice.
  public func load(_ mode: ReadMode = .networkFirst) -> AnyPublisher<FeedReport, Never> {
    loaders.publisher
      .flatMap(maxPublishers: .max(width)) { loader in loader.load(mode).asResult().report(of: loader.url) }
      .eraseToAnyPublisher()
  }

  /// Loads each feed immediately and then at its intervals, and reports what has changed
  /// (``FeedLoader/updates(every:)``).
  ///
  /// Each feed has its own interval: a slow or unreachable one doesn't delay the others. Never finishes, unless the
  /// list of feeds is empty.
  /// **Demand:** a report is held until requested. **Failure:** none. **Cancellation:** immediate.
  ///
  /// - Parameter interval: returns the interval for loading the feed of a URL.
  public func updates(every interval: @escaping (URL) -> Duration) -> AnyPublisher<FeedReport, Never> {
    loaders
      .map { loader in loader.updates(every: interval(loader.url)).report(of: loader.url).eraseToAnyPublisher() }
      .merge()
      .eraseToAnyPublisher()
  }
}

extension Publisher where Output == FeedResult, Failure == Never {
  /// Each result with the URL of its feed.
  func report(of address: URL) -> some Publisher<FeedReport, Never> {
    map { FeedReport(address: address, result: $0) }
  }
}
