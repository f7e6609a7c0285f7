import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// The history of a page's feeds: former, starred and new items.
///
/// A visit lasts while pages are requested, and for half an hour after that.
final class GalleryHistory {
  static let pause = Duration.seconds(30 * 60)
  /// The time, in seconds, after which a feed whose marks couldn't be read is tried again.
  static let retry = 60.0

  private let history: FeedHistory
  private let gallery: Gallery
  private let now: () -> Date
  private let report: (FeedStoreError) -> Void
  /// The images of each feed as of its last visit, which may still be waiting.
  private var visited: [URL: FeedImages] = [:]
  /// The feeds whose latest visits have failed, and the times of these failures.
  private var failed: [URL: Date] = [:]
  /// True if the last visit took long and failed: another process locks the cache file.
  private var isLocked = false
  private var asked: Date?
  /// The feeds to visit, one after another. No visit belongs to a request, so a client that goes away ends none.
  private let visits = PassthroughSubject<Gallery.Source, Never>()
  private var begunVisits = 0
  private let doneVisits = CurrentValueSubject<Int, Never>(0)
  private var visiting: AnyCancellable?

  init(
    _ history: FeedHistory, of gallery: Gallery, now: @escaping () -> Date = Date.init,
    reportingTo report: @escaping (FeedStoreError) -> Void
  ) {
    self.history = history
    self.gallery = gallery
    self.now = now
    self.report = report
    visiting = visits.concatMap { [unowned self] source in visit(source) }
      .sink { [unowned self] in doneVisits.value += 1 }
  }

  /// Marks new and starred items, and delivers a value once the marks of all feeds are there. A cancellation ends only
  /// the waiting. **Failure:** none; the error of a feed that can't be read is reported, and the feed's marks don't
  /// change until a later visit. After a visit that fails after more than a second, as with a cache file that another
  /// process locks, the value is delivered at once, and the marks of the feeds after it come later.
  func visit() -> AnyPublisher<Void, Never> {
    let date = now()
    if let asked, date.timeIntervalSince(asked) > Self.pause / .seconds(1) { gallery.forgetNew() }
    asked = date
    for (address, failure) in failed where abs(date.timeIntervalSince(failure)) > Self.retry {
      (failed[address], visited[address]) = (nil, nil)
    }
    if failed.isEmpty { isLocked = false }
    for source in gallery.sources where !source.images.isEmpty && visited[source.address] != source.images {
      visited[source.address] = source.images
      begunVisits += 1
      visits.send(source)
    }
    let last = begunVisits
    return doneVisits.first { [unowned self] in $0 >= last || isLocked }.map { _ in }.eraseToAnyPublisher()
  }

  private func visit(_ source: Gallery.Source) -> AnyPublisher<Void, Never> {
    let began = now()
    return history.visit(source.images, of: source.address)
      .map { [unowned self] visit in
        (failed[source.address], isLocked) = (nil, false)
        gallery.mark(source.address, visit)
      }
      .catch { [unowned self] error -> Just<Void> in
        let date = now()
        (failed[source.address], isLocked) = (date, date.timeIntervalSince(began) > 1)
        report(error)
        return Just(())
      }
      .eraseToAnyPublisher()
  }

  /// The maximum number of pages of a search that are examined for new items; each page has up to 1,000 items.
  private static let mostPages = 10

  /// The entries of one page, and the position of the next page.
  func page(
    _ query: GalleryQuery, size: Int = GalleryPage.step
  ) -> AnyPublisher<([Gallery.Entry], GalleryQuery.Position?), FeedStoreError> {
    let places = gallery.places(of: query)
    if query.isNew, !query.hasWords {
      // New items are on the page already, so the file needn't be queried.
      let isWanted = Set(places)
      let new = gallery.newEntries.filter { [gallery] entry in
        isWanted.contains(entry.source) && (!query.isStarred || gallery.isStarred(entry))
      }
      return Just(Self.page(of: new, query, size)).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
    }
    var question = SeenQuery(
      query.words, isTyping: true, feeds: places.map { gallery.sources[$0].address }, limit: query.isNew ? 1_000 : size,
      after: query.position?.place)
    (question.isStarred, question.isKept) = (query.isStarred, query.isPast)
    let pages = history.results(of: question)
    if query.isNew {
      return pages.prefix(Self.mostPages).collect()
        .map { [gallery] pages in
          // Filter first: making an entry takes time, and the entry of a former item may evict another one.
          let found = pages.flatMap(\.images).filter { gallery.isNew($0.image.id, of: $0.address) }
          let new = found.compactMap { gallery.entry($0) }
          return Self.page(of: new, query, size)
        }
        .eraseToAnyPublisher()
    }
    return pages.prefix(1).replaceEmpty(with: SeenPage(images: []))
      .map { [gallery] page in (page.images.compactMap(gallery.entry), page.next.map(GalleryQuery.Position.afterItem)) }
      .eraseToAnyPublisher()
  }

  /// One page of new entries. It begins after the card of the query's position if that card is still new.
  private static func page(
    of new: [Gallery.Entry], _ query: GalleryQuery, _ size: Int
  ) -> ([Gallery.Entry], GalleryQuery.Position?) {
    let last = query.position?.card.flatMap { card in new.firstIndex { $0.card == card } }
    let shown = new[(last.map { $0 + 1 } ?? 0)...].prefix(size)
    return (Array(shown), shown.endIndex < new.count ? shown.last.map { .afterCard($0.card) } : nil)
  }

  /// Stars the item on a card, or removes its star; delivers false if the card no longer exists.
  ///
  /// - Parameter keep: receives the starred entry, after the star is saved.
  func setStar(
    _ isStarred: Bool, card: String, keep: @escaping (Gallery.Named) -> Void
  ) -> AnyPublisher<Bool, FeedStoreError> {
    guard let entry = gallery.entry(card: card) else {
      return Just(false).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
    }
    let address = entry.feed
    return history.setStar(isStarred, entry.imageID, of: address)
      .handleEvents(receiveOutput: { [gallery] isDone in
        guard isDone else { return }
        gallery.star(isStarred, entry.imageID, of: address)
        if isStarred, let image = gallery.image(entry.key) { keep(image) }
      })
      .eraseToAnyPublisher()
  }
}
