public import FeedStream
import Foundation

extension FeedLoader {
  /// The pages of the feed, where demand means "load more".
  ///
  /// The first is the feed of ``load()``, always requested unconditionally. Each later page has only images that no
  /// earlier page had. JSON Feed's `next_url`, Atom's `rel=next` (RFC 5005), and the `limit` and `after_id` of
  /// Essential Feed JSON name the next page. Finishes after a page without a next page or with one that was already
  /// requested, or when a page has no new images; that page is not delivered. Before a page is delivered, the images of
  /// all pages so far are saved as one feed, unless a different feed was saved after the first page was requested. A
  /// feed from the cache is one page. A page that is cut off is the last one, and is not saved
  /// (``LoadSource/part(reason:)``). If the first page is cut off, the saved feed, if any, is shown instead.
  ///
  /// **Demand:** a page is requested on demand, and retried according to ``Options/retry``. **Failure:** ``FeedError``
  /// if a page has nothing to show; the saved pages stay. **Cancellation:** closes the request immediately; a requested
  /// save is completed.
  public func pages() -> AnyPublisher<Feed, FeedError> {
    let (feedURL, book) = (saved.address, options.pageImages)
    return Deferred {
      let trail = PageTrail(from: url, now: cache.now) { book?.updating($0, of: feedURL) ?? $0 }
      return page(trail, SerialWorker(on: scheduler))
    }
    .eraseToAnyPublisher()
  }

  private func page(_ trail: PageTrail, _ worker: SerialWorker) -> AnyPublisher<Feed, FeedError> {
    guard let address = trail.next else { return Empty().eraseToAnyPublisher() }
    return WorkOnRequest("FeedPages") { PageWork(feed(onPage: address, of: trail, worker)) }
      .compactMap { $0 }
      .append(Deferred { page(trail, worker) })
      .eraseToAnyPublisher()
  }

  /// The new images of a page, which are saved with those of earlier pages.
  private func feed(
    onPage address: URL, of trail: PageTrail, _ worker: SerialWorker
  ) -> AnyPublisher<Feed, FeedError> {
    let isFirst = trail.isEmpty
    let (feedURL, store, now) = (saved.address, cache.store, cache.now)
    let pages = requests.images(at: address, namedBy: trail.isPrivate, isFirst: isFirst)
      .followingPages(reportingTo: options.onFeedFound) { feed in
        requests.images(at: feed, namedBy: nil, isFirst: isFirst)
      }
      .flatMap { fetched -> AnyPublisher<Fetched<FeedImages>?, RemoteFeedError> in
        if isFirst {
          return worker.publisher { () throws(RemoteFeedError) in trail.add(fetched, from: address) }
        }
        // On the cache's worker, after the renewals that are waiting there.
        return cache.worker.publisher { () throws(RemoteFeedError) -> Fetched<FeedImages>? in
          trail.noteRenewal(of: feedURL, in: store, now: now())
          return trail.add(fetched, from: address)
        }
      }
      .compactMap { $0 }
      .mapError { error -> RemoteFeedError in
        // The saved feed has the earlier pages, so it isn't this page.
        if !isFirst, case .unchanged = error { .invalidData(.status(304)) } else { error }
      }
      .caching(to: saved, askedAt: { trail.ask() }, renewedAt: { trail.renewed }, reportingTo: options.report)
      // A failed attempt has added no page to the trail.
      .retry(options.retry, scheduler: scheduler) { $0.isWorthRetrying }
    // A page that is not added has no next page.
    trail.next = nil
    guard isFirst else {
      return pages.map { _ in Feed(images: trail.newest, source: .remote) }
        .catch { error -> AnyPublisher<Feed, FeedError> in
          guard case .invalidData(.cutOff(let part)) = error else {
            return Fail(error: FeedError(remote: error)).eraseToAnyPublisher()
          }
          return worker.publisher { () throws(FeedError) in trail.end(with: part) }
            .map { Feed(images: $0, source: .part(reason: error)) }
            .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
    return
      pages
      .fallback(to: saved.load(maxAge: options.maxAge), after: options.fallback, now: cache.now)
      .showingParts()
      .eraseToAnyPublisher()
  }
}

/// The pages of one subscription so far.
// @unchecked: the loop and one piece of work take turns using it, never at the same time.
private final class PageTrail: @unchecked Sendable {
  /// The page to request; `nil` when there are no more.
  var next: URL?
  /// True if the page that links to the next one came from a private network; `nil` if that is unknown.
  private(set) var isPrivate: Bool?
  /// The new images of the last page: those that no earlier page had.
  private(set) var newest: FeedImages = []
  private var first: FeedImages = []
  private var all: FeedImages = []
  private var validators = FeedValidators()
  private var ids: Set<FeedImage.ID> = []
  private var addresses: Set<URL> = []
  private let now: @Sendable () -> Date
  /// Adds the images that were found on items' pages since the first page arrived.
  private let updating: @Sendable (FeedImages) -> FeedImages
  /// The time of the first page's latest request, which is that of all saves: the first page's images are in each.
  private var asked = Date.distantPast
  /// The later time at which the first page was still current; `nil` if it was not requested again.
  private(set) var renewed: Date?

  init(
    from address: URL, now: @escaping @Sendable () -> Date, updating: @escaping @Sendable (FeedImages) -> FeedImages
  ) {
    (next, self.now, self.updating) = (address, now, updating)
  }

  var isEmpty: Bool { addresses.isEmpty }

  /// - Returns: the time of all saves; a request for the first page sets it.
  func ask() -> Date {
    if isEmpty { asked = now() }
    return asked
  }

  /// - Returns: the images of all pages; `nil` for a page without a new image.
  func add(_ page: Fetched<FeedImages>, from address: URL) -> Fetched<FeedImages>? {
    let isFirst = isEmpty
    addresses.insert(address)
    next = page.value.next.flatMap { addresses.contains($0) ? nil : $0 }
    isPrivate = page.value.isFromPrivateNetwork
    if isFirst {
      (newest, first, all, validators) = (page.value, page.value, page.value, page.validators)
      ids = Set(all.indices.map(all.id))
      return page
    }
    newest = new(in: page.value)
    guard !newest.isEmpty else {
      next = nil
      return nil
    }
    all = FeedImages(joining: [all, newest])
    // The saved feed may have images that this feed didn't have when it arrived.
    return Fetched(updating(all), validators: validators)
  }

  /// Follows the saved feed's timestamp, if the saved feed is newer only because the first page hasn't changed since.
  func noteRenewal(of address: URL, in store: any FeedStore, now: Date) {
    guard let summary = try? store.summary(for: address),
      FeedCachePolicy.isSuperseded(renewed ?? asked, by: summary.timestamp, now: now),
      let saved = try? store.retrieve(for: address)
    else { return }
    let isSameDocument = saved.validators.digest != nil && saved.validators.digest == validators.digest
    let images = updating(saved.images)
    guard isSameDocument || images == updating(first) || images == updating(all) else { return }
    (renewed, validators) = (saved.timestamp, saved.validators)
  }

  /// - Returns: the new images of a page whose end is missing, after which nothing is requested.
  func end(with part: FeedImages) -> FeedImages {
    newest = new(in: part)
    return newest
  }

  private func new(in page: FeedImages) -> FeedImages {
    var new = FeedImages.Builder(count: page.count)
    for index in page.indices where ids.insert(page.id(at: index)).inserted {
      page.withTexts(at: index) { new.append($0) }
    }
    new.omittedItems = page.omittedItems
    new.isFromPrivateNetwork = page.isFromPrivateNetwork
    return new.finish()
  }
}

/// The last value of a publisher, once it has finished.
private final class PageWork: RequestedWork {
  private let page: AnyPublisher<Feed, FeedError>
  private var subscription: AnyCancellable?

  init(_ page: AnyPublisher<Feed, FeedError>) { self.page = page }

  func start(_ settle: @escaping (Result<Feed?, FeedError>) -> Void) {
    var feed: Feed?
    subscription = page.sink { completion in
      if case .failure(let error) = completion { settle(.failure(error)) } else { settle(.success(feed)) }
    } receiveValue: {
      feed = $0
    }
  }

  func cancel() { subscription = nil }
}
