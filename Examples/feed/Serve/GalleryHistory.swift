import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// The history of a page's feeds: former, starred and new items.
///
/// A visit lasts while pages are requested, and for half an hour after that.
final class GalleryHistory {
  static let pause = Duration.seconds(30 * 60)

  private let history: FeedHistory
  private let gallery: Gallery
  private let now: () -> Date
  private let report: (FeedStoreError) -> Void
  private var visited: [URL: FeedImages] = [:]
  private var asked: Date?

  init(
    _ history: FeedHistory, of gallery: Gallery, now: @escaping () -> Date = Date.init,
    reportingTo report: @escaping (FeedStoreError) -> Void
  ) {
    self.history = history
    self.gallery = gallery
    self.now = now
    self.report = report
  }

  /// Marks new and starred items. **Failure:** none; the error of a feed that can't be read is reported, and the feed's
  /// marks don't change.
  func visit() -> AnyPublisher<Void, Never> {
    let date = now()
    if let asked, date.timeIntervalSince(asked) > Self.pause / .seconds(1) { gallery.forgetNew() }
    asked = date
    let changed = gallery.sources.filter { !$0.images.isEmpty && visited[$0.address] != $0.images }
    for source in changed { visited[source.address] = source.images }
    return changed.publisher
      .flatMap(maxPublishers: .max(1)) { [history, gallery, report] source in
        history.visit(source.images, of: source.address)
          .map { gallery.mark(source.address, $0) }
          .catch { error -> Empty<Void, Never> in
            report(error)
            return Empty()
          }
      }
      .collect().map { _ in }
      .eraseToAnyPublisher()
  }

  /// The maximum number of pages of a search that are examined for new items; each page has up to 1,000 items.
  private static let mostPages = 10

  /// The entries of one page, and the position of the next page.
  func page(
    _ query: GalleryQuery, size: Int = GalleryPage.step
  ) -> AnyPublisher<([Gallery.Entry], SeenPage.Place?), FeedStoreError> {
    let places = gallery.places(of: query)
    if query.isNew, !query.hasWords {
      // New items are on the page already, so the file needn't be queried.
      let isWanted = Set(places)
      let new = gallery.newEntries.filter { [gallery] entry in
        isWanted.contains(entry.source) && (!query.isStarred || gallery.isStarred(entry))
      }
      return Just((new, nil)).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
    }
    var question = SeenQuery(
      query.words, isTyping: true, feeds: places.map { gallery.sources[$0].address }, limit: query.isNew ? 1_000 : size,
      after: query.place)
    (question.isStarred, question.isKept) = (query.isStarred, query.isPast)
    let pages = history.results(of: question)
    if query.isNew {
      return pages.prefix(Self.mostPages).collect()
        .map { [gallery] pages in
          (pages.flatMap { $0.images.compactMap(gallery.entry) }.filter(gallery.isNew), nil)
        }
        .eraseToAnyPublisher()
    }
    return pages.prefix(1).replaceEmpty(with: SeenPage(images: []))
      .map { [gallery] page in (page.images.compactMap(gallery.entry), page.next) }
      .eraseToAnyPublisher()
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
