import FeedHTTP
import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import Logging

/// Loads the feeds that the command line selects. If there is nothing to show, explains why.
struct FeedSource {
  let feeds: ManyFeeds
  let finder: NewImagesFinder
  let store: SQLiteFeedStore
  /// The history of the feeds.
  let history: FeedHistory
  /// The marks of the feeds' images, as they were recorded at the start.
  let marks = RecordedMarks()
  let client: CurlHTTPClient
  private let options: LoadOptions
  private let cache: FeedCache
  private let session: Session
  private let choices: FeedLoader.Options
  private let subscriptions: [SubscribedFeed]
  /// Returns the fields to send for a feed to its own origin.
  private let headers: (SubscribedFeed) -> [HTTPRequest.Header]
  private let observer: (URL) -> RequestObserver?

  /// - Parameter observer: returns the observer for a feed's requests.
  init(
    _ options: LoadOptions, of selection: FeedSelection, on session: Session,
    observer: @escaping (URL) -> RequestObserver? = { _ in nil }
  ) {
    self.options = options
    let (loop, log, console) = (session.loop, session.log, session.console)
    let (store, cache) = session.openCache(options.common)
    (self.store, self.cache) = (store, cache)
    history = FeedHistory(store: store, cache: cache)
    finder = NewImagesFinder(store: store, cache: cache) { console.warn($0) }
    let client = options.trust.client(on: loop)
    self.client = client
    var choices = FeedLoader.Options()
    choices.maxAge = options.common.maxAge.duration
    choices.fallback = options.fallback
    choices.timeout = options.timeout.duration
    choices.pageImages = PageImageBook(store)
    choices.report = { console.warn($0) }
    selection.subscriptions.warnOfUnusableCredentials(on: console)
    self.session = session
    self.choices = choices
    self.observer = observer
    // The user chose the command line's fields for the selected feed, not for feeds that are added to the list later.
    let (request, selected) = (options.request, Set(selection.addresses))
    let headers = { (feed: SubscribedFeed) in
      (selected.contains(feed.address) ? request : request.withoutFieldsForOne).headers(for: feed)
    }
    self.headers = headers
    feeds = ManyFeeds(
      selection.subscriptions.map { feed in
        FeedLoader(
          feed.address, client: Self.client(for: feed, client, headers(feed), observer(feed.address), log),
          cache: cache, on: loop, options: Self.naming(feed.address, choices, console))
      })
    subscriptions = selection.subscriptions
  }

  /// The options for one feed, with a note if its URL is that of a web page.
  private static func naming(
    _ address: URL, _ choices: FeedLoader.Options, _ console: Console
  ) -> FeedLoader.Options {
    var choices = choices
    choices.onFeedFound = { link in
      let title = link.title.map { " (\($0.printable))" } ?? ""
      let feed = link.addressWithoutUser.printable
      console.note("\(address.shown) is a web page; its feed is \(feed)\(title)")
    }
    return choices
  }

  /// The client for one feed, with its observer.
  private static func client(
    for feed: SubscribedFeed, _ client: CurlHTTPClient, _ headers: [HTTPRequest.Header],
    _ observer: RequestObserver?, _ log: Logger
  ) -> ObservedClient {
    // Send the user's fields for this URL only to its host, not to other hosts that it leads to.
    let headed = client.sending(headers, to: feed.address)
    return ObservedClient(client: headed, observer: observer, log: log)
  }

  /// The given stream, which is subscribed to once the feeds' marks have been read.
  func afterMarks<P: Publisher>(_ stream: P) -> AnyPublisher<P.Output, P.Failure> {
    let (marks, store, addresses) = (marks, store, feeds.loaders.map(\.url))
    return SerialWorker(on: session.loop).publisher { () -> Void in marks.read(addresses, in: store) }
      .setFailureType(to: P.Failure.self)
      .flatMap { _ in stream }
      .eraseToAnyPublisher()
  }

  /// Polls the feeds.
  ///
  /// - Parameters:
  ///   - interval: the polling interval of a feed; `nil` to adapt to how often it changes.
  ///   - count: the number of results to show; no more requests than this run at the same time, because the others
  ///     would be cut off.
  ///   - lists: new lists of the feeds to poll; `nil` if the list never changes.
  ///   - pages: loads the images that are found on items' pages; `nil` if pages aren't searched.
  ///   - onProgress: receives the poller's progress.
  func reports(
    every interval: @escaping (URL) -> Duration?, atMost count: Int? = nil,
    following lists: AnyPublisher<[SubscribedFeed], Never>? = nil, _ pages: PageImageOption? = nil,
    onProgress: @escaping (PollingProgress) -> Void = { _ in }
  ) -> AnyPublisher<FeedReport, Never> {
    let poll = { [self] (feed: SubscribedFeed) -> PolledAddress in
      var polled = PolledAddress(
        feed.address, every: interval(feed.address),
        options: Self.naming(feed.address, choices, session.console))
      polled.client = Self.client(for: feed, client, headers(feed), observer(feed.address), session.log)
      return polled
    }
    let polled = subscriptions.map(poll)
    let console = session.console
    var polling = FeedPoller.Options()
    polling.onProgress = onProgress
    polling.report = { console.warn($0) }
    polling.onPause = { console.warn($1, of: $0) }
    if options.common.log.verbose {
      polling.onDecision = { address, decision in
        console.report("\(address.shown): \(ExplanationText(style: .plain, now: Date()).line(decision))", .debug)
      }
    }
    var poller = FeedPoller(polled, client: client, cache: cache, store: store, on: session.loop, options: polling)
    if let lists {
      poller = poller.following(
        lists.map { [finder] feeds in
          finder.add(feeds.map(\.address))
          return feeds.map(poll)
        })
    }
    // Reports are shown one at a time.
    let room = min(polling.maxRunning, lists == nil ? polled.count : .max, count ?? .max)
    guard let pages else { return poller.eraseToAnyPublisher() }
    return pages.finding(
      in: poller, room: room, client: ObservedClient(client: client, log: session.log), cache: cache,
      store: store, on: session)
  }

  /// The feeds that other processes save, and those that are already saved. Doesn't make requests.
  ///
  /// - Parameter lists: new lists of the feeds to follow; `nil` if the list never changes.
  func following(_ lists: AnyPublisher<[SubscribedFeed], Never>? = nil) -> AnyPublisher<FeedReport, Never> {
    let first = feeds.loaders.map(\.url)
    guard let lists else { return saved(of: first) }
    var wanted = Set(first)
    var seen = wanted
    return
      lists
      .map { [finder] feeds -> [URL] in
        wanted = Set(feeds.map(\.address))
        let added = feeds.map(\.address).filter { seen.insert($0).inserted }
        finder.add(added)
        return added
      }
      .prepend(first)
      .filter { !$0.isEmpty }
      .flatMap { saved(of: $0) }
      .filter { wanted.contains($0.address) }
      .eraseToAnyPublisher()
  }

  private func saved(of addresses: [URL]) -> AnyPublisher<FeedReport, Never> {
    let (store, loop, maxAge) = (store, session.loop, choices.maxAge)
    func failure(_ error: FeedStoreError, _ address: URL) -> FeedReport {
      FeedReport(address: address, result: .failure(FeedError(remote: .notAsked, cache: .failed(error))))
    }
    return store.changes(of: addresses, on: loop)
      .compactMap { address, change -> FeedReport? in
        let saved: CachedFeed?
        do throws(FeedStoreError) {
          saved = try change.get().feed
        } catch {
          return failure(error, address)
        }
        let now = Date()
        guard let saved, FeedCachePolicy(maxAge: maxAge).isValid(saved.timestamp, now: now) else { return nil }
        let age = FeedCachePolicy.age(of: saved.timestamp, now: now)
        let source = LoadSource.cache(savedAt: saved.timestamp, age: age, reason: .notAsked)
        return FeedReport(address: address, result: .success(Feed(images: saved.images, source: source)))
      }
      .catch { error in addresses.map { failure(error, $0) }.publisher }
      .eraseToAnyPublisher()
  }

  func nothingToShow(_ error: FeedError, for address: URL, _ choice: ReadChoice? = nil) -> NothingToShow {
    let own = options.request.placeholders
    let listed = subscriptions.first { $0.address == address }.map { RequestOptions(of: $0).placeholders }
    return NothingToShow(
      address: address, error: error, maxAge: options.common.maxAge.duration, choice: choice,
      placeholders: own.isEmpty ? listed ?? [] : own)
  }

  /// Explains why there is nothing to show. If the load did not use the cache, reads it now.
  func explain(
    _ error: FeedError, for address: URL, _ choice: ReadChoice? = nil
  ) -> AnyPublisher<NothingToShow, Never> {
    let failure = nothingToShow(error, for: address, choice)
    guard error.cache == .notAsked else { return Just(failure).eraseToAnyPublisher() }
    return cache.feed(at: address).retrieve()
      .map { failure.with(savedAge: FeedCachePolicy.age(of: $0.timestamp, now: Date())) }
      .replaceEmpty(with: failure)
      .catch { Just(failure.with(cache: .failed($0))) }
      .eraseToAnyPublisher()
  }
}

extension HostPause {
  /// The pause of a host, as a warning.
  func text(of host: String) -> String {
    "\(host) is paused until \(until.dayAndTime), because \(reason); its feeds are loaded again after that."
  }
}

extension Session {
  /// Opens the cache file. Feeds that are saved in the cache are completely saved before the session ends.
  func openCache(_ common: CommonOptions) -> (store: SQLiteFeedStore, cache: FeedCache) {
    let store = SQLiteFeedStore(cacheAt: common.cachePath, keeping: common.keep, on: self)
    let cache = FeedCache(store: LoggingStore(store: store, log: log), on: loop)
    (self.store, self.cache) = (store, cache)
    return (store, cache)
  }
}

extension SQLiteFeedStore {
  /// The cache of a session, which reports a damaged file that was renamed.
  convenience init(cacheAt path: String, keeping policy: HistoryPolicy = HistoryPolicy(), on session: Session) {
    let damaged = PassthroughSubject<String, Never>()
    // This sink is never cancelled: the subject releases it, and the store releases the subject.
    damaged.subscribe(
      Subscribers.Sink(receiveCompletion: { _ in }) { [console = session.console] aside in
        console.warn("The cache file was damaged and has been renamed to \(aside).")
      })
    // The store reports this on a pool thread, within work that keeps the loop alive anyway.
    let sender = damaged.sender(on: session.loop, keepsLoopAlive: false)
    self.init(path: path, keeping: policy) { sender.send($0) }
  }
}
