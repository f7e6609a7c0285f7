import FeedHTTPServer
import Foundation
import ImageFeed

/// A part of the history, as specified by a page's URL.
struct GalleryQuery: Equatable {
  var words = ""
  var isStarred = false
  /// True for items that are new since the last visit.
  var isNew = false
  /// True for former items.
  var isPast = false
  /// The folder of the feeds: its name, preceded by the names of the folders that contain it
  /// (``Gallery/Source/folder``).
  var folder: String?
  var feed: NamedFeed?
  var position: Position?

  init() {}

  /// The position where a page begins.
  enum Position: Equatable {
    /// After an item of the history.
    case afterItem(SeenPage.Place)
    /// After a card, in a list of new items.
    case afterCard(String)

    var place: SeenPage.Place? { if case .afterItem(let place) = self { place } else { nil } }
    var card: String? { if case .afterCard(let card) = self { card } else { nil } }

    fileprivate var item: URLQueryItem {
      switch self {
      case .afterItem(let place): URLQueryItem(name: "place", value: "\(place)")
      case .afterCard(let card): URLQueryItem(name: "after", value: card)
      }
    }
  }

  /// A feed, as chosen by a page's URL.
  struct NamedFeed: Equatable {
    /// The name in the URLs of pages (``Gallery/feedNames``); it changes with the feed's title and the list of feeds.
    let name: String
    /// The name in URLs that other programs keep (``Gallery/permanentName(ofFeed:)``).
    let permanentName: String
    /// The feed's URL; `nil` for an unknown feed, which has no items.
    let address: URL?
  }

  /// - Parameter gallery: finds the feed by its name or number.
  init(_ request: WholeRequest, of gallery: Gallery) {
    words = String((request.query("q") ?? "").prefix(200))
    isStarred = request.query("starred") != nil
    isNew = request.query("new") != nil
    isPast = request.query("past") != nil
    folder = request.query("folder").flatMap { $0.isEmpty ? nil : String($0.prefix(500)) }
    feed = (request.parameters["name"] ?? request.query("feed")).flatMap { $0.isEmpty ? nil : gallery.feed($0) }
    position =
      request.query("place").flatMap(SeenPage.Place.init).map(Position.afterItem)
      ?? request.query("after").map(Position.afterCard)
  }

  var hasWords: Bool { words.contains { !$0.isWhitespace } }

  /// True if the page shows all current items.
  var isEmpty: Bool { !hasWords && !isStarred && !isNew && !isPast && folder == nil && feed == nil }

  /// The URL's query, without the position.
  var items: [URLQueryItem] { items(feed?.name) }

  private func items(_ feed: String?) -> [URLQueryItem] {
    var items: [URLQueryItem] = []
    if hasWords { items.append(URLQueryItem(name: "q", value: words)) }
    if isStarred { items.append(URLQueryItem(name: "starred", value: "1")) }
    if isNew { items.append(URLQueryItem(name: "new", value: "1")) }
    if isPast { items.append(URLQueryItem(name: "past", value: "1")) }
    if let folder { items.append(URLQueryItem(name: "folder", value: folder)) }
    if let feed { items.append(URLQueryItem(name: "feed", value: feed)) }
    return items
  }

  /// The URL of this part, under a path of this server. Other programs keep the URLs of paths other than the page's, so
  /// these have the feed's permanent name.
  func address(of path: String = "/", isPermanent: Bool = false, after position: Position? = nil) -> String {
    let items =
      items(path == "/" && !isPermanent ? feed?.name : feed?.permanentName)
      + (position.map { [$0.item] } ?? [])
    guard !items.isEmpty else { return path }
    var parts = URLComponents()
    (parts.path, parts.queryItems) = (path, items)
    // Some servers read + in a query as a space.
    return parts.string?.replacing("+", with: "%2B") ?? path
  }

  /// The same part, but in a different folder; `nil` for all folders.
  func inFolder(_ folder: String?) -> GalleryQuery {
    var query = self
    (query.folder, query.feed, query.position) = (folder, nil, nil)
    return query
  }
}

extension Gallery.Source {
  /// The name of the feed's folder, preceded by the names of the folders that contain it; `nil` if the feed isn't in a
  /// folder.
  var folder: String? { folders.isEmpty ? nil : folders.joined(separator: GalleryQuery.separator) }

  /// True if the feed is in the folder or in one of its subfolders, ignoring case.
  func isIn(_ folder: String) -> Bool {
    guard let own = self.folder?.lowercased() else { return false }
    let folder = folder.lowercased()
    return own == folder || own.hasPrefix(folder + GalleryQuery.separator)
  }
}

extension GalleryQuery {
  /// The separator between the names of folders.
  static let separator = " / "
}

extension Gallery {
  /// The folders of the feeds, each only once, and after the folders that contain it.
  var folders: [String] {
    var (known, names): (Set<String>, [String]) = ([], [])
    for source in sources {
      for count in source.folders.indices {
        let name = source.folders[...count].joined(separator: GalleryQuery.separator)
        if known.insert(name.lowercased()).inserted { names.append(name) }
      }
    }
    return names.sorted { $0.lowercased() < $1.lowercased() }
  }

  /// The positions of the feeds that a query selects.
  func places(of query: GalleryQuery) -> [Int] {
    let places = query.feed.map { feed in place(of: feed).map { [$0] } ?? [] } ?? Array(sources.indices)
    return places.filter { index in query.folder.map(sources[index].isIn) ?? true }
  }
}
