package import FeedStream
import Foundation
package import ImageFeed

/// Finds images on the pages of items that have none: one request per item, in the order of the feed.
///
/// The finder is as polite as the poller. All processes that share the store send a host one request at a time,
/// including polls, with a pause after each. If the host requests a pause (429, 503), all of them observe it. A page
/// that was read is never requested again. A page whose host is closed, or that redirects to such a host, is requested
/// when that host opens. Another page that could not be read is requested again when its feed changes, or by the next
/// process.
///
/// Use it on its scheduler's thread.
package final class PageImageFinder {
  /// Options; each has a default.
  package struct Options {
    /// The maximum number of concurrent requests. 4 by default.
    package var maxRunning = 4
    /// The time between the end of a request to a host and the next request to that host. One second by default.
    package var gap: Duration = .seconds(1)
    /// The time limit for a request. 10 seconds by default.
    package var timeout: Duration = .seconds(10)
    /// The time after which found images are shown, even if other pages of the feed's items are waiting. 5 seconds by
    /// default.
    package var patience: Duration = .seconds(5)
    /// Receives the store's error when the store fails. Does nothing by default.
    package var report: (FeedStoreError) -> Void = { _ in }

    package init() {}
  }

  /// A page of an item.
  struct Page {
    let feed: URL
    let page: PageImageBook.Page
    /// The claims of its hosts, before its request.
    var claims: [HostClaim] = []
    var visit: (any Cancellable)?
    /// The hosts of the running request: the page's, and those that redirects led to.
    var hosts: (visited: VisitedHosts, client: GuardedClient)?
    /// The host in whose queue the page is: its own, or the one that it redirects to, if that host was closed.
    var turn: String

    var host: String { page.url.pollingHost }

    init(feed: URL, page: PageImageBook.Page) {
      (self.feed, self.page, turn) = (feed, page, page.url.pollingHost)
    }
  }

  /// A feed with items that have no image.
  struct Feed {
    var source: LoadSource
    var isPrivate: Bool?
    /// Ends the time for which found images wait for others; `nil` if there are no new ones.
    var patience: (any Cancellable)?
  }

  let book: PageImageBook
  let visits: HostVisits
  let client: any HTTPClient
  let cache: FeedCache
  let scheduler: any LoopScheduler
  let options: Options
  let reader: SerialWorker
  private let clock: PollingClock
  var queue: PollQueue
  var pages: [Page] = []
  var feeds: [URL: Feed] = [:]
  /// The items whose pages are waiting or being read.
  var waiting: [URL: Set<FeedImage.ID>] = [:]
  private var emitter: Create<FeedReport, Never>.Emitter?
  private var isEnded = false

  /// - Parameters:
  ///   - book: records the found images; pass the same book as the `pageImages` option when you load the feeds.
  ///   - store: keeps the state of hosts.
  ///   - client: makes the requests; it must not send users' credentials.
  package init(
    _ book: PageImageBook, store: any PollStore, client: any HTTPClient, cache: FeedCache,
    on scheduler: any LoopScheduler, options: Options = Options()
  ) {
    (self.book, self.client, self.cache) = (book, client, cache)
    (self.scheduler, self.options) = (scheduler, options)
    visits = HostVisits(store: store, cache: cache, on: scheduler, report: options.report)
    reader = SerialWorker(on: scheduler)
    clock = PollingClock(scheduler, wall: cache.now)
    queue = PollQueue(limit: options.maxRunning)
  }

  /// The feeds of a poller; each is delivered again when images are found on the pages of its items.
  ///
  /// **Demand:** passes through; found images are held until they are requested. **Failure:** none. **Cancellation:**
  /// cancels running requests; the next process repeats them.
  package func finding(
    in feeds: some Publisher<FeedReport, Never>
  ) -> AnyPublisher<FeedReport, Never> {
    let found = Create<FeedReport, Never>(size: .max) { [self] emitter in
      self.emitter = emitter
      emitter.onCancel { [self] in end() }
    }
    return
      feeds
      .handleEvents(receiveOutput: { [self] in take($0) }, receiveCompletion: { [self] _ in end() })
      .merge(with: found)
      .eraseToAnyPublisher()
  }

  private func take(_ polled: FeedReport) {
    guard case .success(let feed) = polled.result else { return }
    feeds[polled.address, default: Feed(source: feed.source)].source = feed.source
    feeds[polled.address]?.isPrivate = feed.images.isFromPrivateNetwork
    let (book, address) = (book, polled.address)
    cache.worker.perform {
      () throws(FeedStoreError) in
      try book.openPages(of: address)
    } completion: { [weak self] (result: Result<[PageImageBook.Page], FeedStoreError>) in
      guard let self, !isEnded else { return }
      switch result {
      case .success(let pages): add(pages, of: address)
      case .failure(let error): options.report(error)
      }
    }
  }

  private func add(_ open: [PageImageBook.Page], of address: URL) {
    // The page is due after the pause that follows the feed's own request.
    let due = now + options.gap.seconds
    for page in open where waiting[address, default: []].insert(page.id).inserted {
      pages.append(Page(feed: address, page: page))
      queue.add(host: page.url.pollingHost, due: due)
    }
    pump()
  }

  var now: Double { cache.now().timeIntervalSince1970 }

  func pump() {
    // The clock was set back: a page due in a second stays due in a second.
    let jump = clock.jump()
    if jump < -1 { queue.shift(by: jump) }
    while !isEnded {
      switch queue.next(at: now) {
      case .start(let index): visit(index)
      case .wait(let time):
        if let time { clock.wake(at: time) { [weak self] in self?.pump() } } else if queue.running == 0 { rest() }
        return
      }
    }
  }

  /// Called when no page is waiting, so that the list of pages can be dropped.
  private func rest() {
    pages = []
    queue = PollQueue(limit: options.maxRunning)
  }

  /// Delivers a feed with its found images.
  func show(_ images: FeedImages, of address: URL) {
    guard !isEnded, let feed = feeds[address] else { return }
    emitter?.send(FeedReport(address: address, result: .success(.init(images: images, source: feed.source))))
  }

  private func end() {
    guard !isEnded else { return }
    isEnded = true
    clock.cancel()
    for index in pages.indices {
      pages[index].visit.take()?.cancel()
      cancelClaims(of: index)
      endVisits(of: index)
    }
    for address in feeds.keys { feeds[address]?.patience.take()?.cancel() }
    visits.cancel()
    emitter.take()?.send(completion: .finished)
  }
}
