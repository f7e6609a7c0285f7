import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// A part of what was seen, as the address of a page names it.
struct GalleryQuery: Equatable {
  var words = ""
  var isStarred = false
  /// Only what no feed has any more.
  var isPast = false
  /// The place of a feed among those of the page.
  var feed: Int?
  var place: SeenPage.Place?

  init() {}

  init(_ request: HTTPServer.Request) {
    words = String((request.query("q") ?? "").prefix(200))
    isStarred = request.query("starred") != nil
    isPast = request.query("past") != nil
    feed = request.query("feed").flatMap { Int($0) }
    place = request.query("place").flatMap(SeenPage.Place.init)
  }

  /// True when the page shows all that the feeds have.
  var isEmpty: Bool {
    self == GalleryQuery() || words.allSatisfy(\.isWhitespace) && !isStarred && !isPast && feed == nil
  }

  /// The address of the part after this one.
  func address(after place: SeenPage.Place) -> String {
    var parts = URLComponents()
    parts.path = "/"
    var items = [URLQueryItem(name: "place", value: "\(place)")]
    if !words.isEmpty { items.append(URLQueryItem(name: "q", value: words)) }
    if isStarred { items.append(URLQueryItem(name: "starred", value: "1")) }
    if isPast { items.append(URLQueryItem(name: "past", value: "1")) }
    if let feed { items.append(URLQueryItem(name: "feed", value: "\(feed)")) }
    parts.queryItems = items
    return parts.string ?? "/"
  }
}

/// The history of the feeds of a page: what they had, what is starred, and what is new since the last visit.
///
/// A visit lasts while pages are asked for, and for half an hour after that.
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

  /// Marks what is new since the last visit, and what is starred. **Failure:** none: what cannot be read has no marks.
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

  /// The entries of one page, and where the next begins.
  func page(_ query: GalleryQuery) -> AnyPublisher<([Gallery.Entry], SeenPage.Place?), FeedStoreError> {
    let feeds = gallery.sources.map(\.address)
    var question = SeenQuery(query.words, isTyping: true, feeds: feeds, limit: GalleryPage.step, after: query.place)
    if let feed = query.feed { question.feeds = feeds.indices.contains(feed) ? [feeds[feed]] : [] }
    (question.isStarred, question.isKept) = (query.isStarred, query.isPast)
    return history.results(of: question).prefix(1).replaceEmpty(with: SeenPage(images: []))
      .map { [gallery] page in (page.images.compactMap(gallery.entry), page.next) }
      .eraseToAnyPublisher()
  }

  /// Stars what a card shows, or takes its star away; delivers false when there is no such card any more.
  func setStar(_ isStarred: Bool, card: String) -> AnyPublisher<Bool, FeedStoreError> {
    guard let entry = gallery.entry(card: card), gallery.sources.indices.contains(entry.source) else {
      return Just(false).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
    }
    let address = gallery.sources[entry.source].address
    return history.setStar(isStarred, entry.imageID, of: address)
      .handleEvents(receiveOutput: { [gallery] isDone in
        if isDone { gallery.star(isStarred, entry.imageID, of: address) }
      })
      .eraseToAnyPublisher()
  }
}
