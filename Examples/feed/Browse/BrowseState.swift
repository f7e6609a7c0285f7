import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// The state of `feed browse`: a value that changes with each event and has no side effects.
struct BrowseState {
  enum View: Equatable {
    /// Images side by side.
    case grid
    /// One image, as large as the screen.
    case single
    case help
    /// The origin and the age of each feed.
    case origins
  }

  /// One of the feeds.
  struct Source {
    var address: URL
    var name: String
    /// The folders that contain the feed, outermost first.
    var folders: [String] = []
    var feed: Feed?
    /// The time when the feed was loaded.
    var loadedAt: Date?
    /// The reason why there is no feed, or no next page.
    var failure: String?
    var isLoading = true
    /// False if no pages follow the ones that are shown.
    var hasMore = true
    /// True if the next page that arrives replaces the ones that are shown.
    var isRefreshing = false
    /// The former items of the feed that have been loaded so far, and the position of the next ones.
    var kept: FeedImages = []
    var keptPlace: SeenPage.Place?
    /// The number of former items that aren't to be read again, from the first; 0 after a refresh.
    var keptCount = 0
    /// False if there are no more former items.
    var hasKept = false
    /// True if the former items couldn't be read. A refresh tries again.
    var isUnread = false
    /// The items that were never shown before this visit.
    var new: Set<FeedImage.ID> = []
    var stars: Set<FeedImage.ID> = []

    /// True if the feed couldn't be loaded from its server.
    var hasFailed: Bool { isFallback || failure != nil }

    /// True if the saved feed is shown because the server failed.
    var isFallback: Bool {
      switch feed?.source {
      case .cache(_, _, .connectivity)?, .cache(_, _, .invalidData)?: true
      default: false
      }
    }

    /// The items that aren't among the feed's current and former items.
    func unknown(in images: FeedImages) -> Set<FeedImage.ID> {
      Set(images.map(\.id)).subtracting(feed?.images.map(\.id) ?? []).subtracting(kept.map(\.id))
    }
  }

  var size: TerminalSize
  /// The terminal's abilities; `nil` until the terminal has replied.
  var abilities: TerminalAbilities?
  var sources: [Source]
  var timeline = FeedTimeline([])
  var selected = 0
  /// True after the first key. Until then, the first image stays selected as images arrive.
  var isTouched = false
  /// The time of the last press of a mouse button, to recognize a double-click.
  var lastPress: StreamInstant?
  /// The index, among the selected post's images, of the image in the single view.
  var part = 0
  /// The zoom of the image, and the visible part.
  var near = ImageBox.Near()
  /// True while a slideshow is running.
  var isShow = false
  /// The first row of images on the screen.
  var top = 0
  var view = View.grid
  /// The view to return to from the help or the origins.
  var viewBefore = View.grid
  var drawings: [ImageKey: Result<Drawing, NoImage>] = [:]
  var filter = Filter()
  /// True if feeds' former items can be read.
  let hasHistory: Bool
  /// The cache file's latest results, if the filter needs them.
  var found: SeenPage?
  /// True until the results for the filter arrive.
  var isSearching = false
  /// True while the user types search words.
  var isTyping = false
  /// The number of new images that the current reload has found; `nil` if the user isn't waiting for a reload.
  var reloaded: Int?
  /// The message at the bottom, until the next key.
  var message = ""
  var now: Date

  /// - Parameters:
  ///   - folders: the folders of feeds.
  ///   - hasHistory: true if feeds' former items can be shown after their current ones.
  init(
    _ feeds: [(address: URL, name: String)], in folders: [URL: [String]] = [:], hasHistory: Bool = false,
    size: TerminalSize, now: Date
  ) {
    self.size = size
    self.now = now
    self.hasHistory = hasHistory
    sources = feeds.map {
      Source(address: $0.address, name: $0.name, folders: folders[$0.address] ?? [], hasKept: hasHistory)
    }
  }

  /// The beginning of the message about the progress of the word index.
  static let indexing = "Indexing items saved since the last search: "

  static let opening = "Opening…"
  static let opened = "Opened in a browser."

  /// True if no feed has arrived, so that there is nothing to show.
  var hasNothing: Bool { sources.allSatisfy { $0.feed == nil } }
  var isLoading: Bool { sources.contains(where: \.isLoading) }
  var current: FeedTimeline.Entry? { timeline.indices.contains(selected) ? timeline[selected] : nil }
  /// The images of the selected post.
  var parts: [FeedImage.Post.Image] { current?.image.images ?? [] }
  /// The URL of the image that is being viewed; in the grid, that of the selected tile.
  var currentURL: URL? {
    guard let image = current?.image else { return nil }
    return shownView == .single && parts.indices.contains(part) ? URL(string: parts[part].url) ?? image.url : image.url
  }
}

extension BrowseState {
  /// - Returns: the actions to perform.
  mutating func take(_ event: BrowseEvent) -> [BrowseAction] {
    var actions: [BrowseAction] = []
    switch event {
    case .key(let key): actions = take(key)
    case .mouse(let mouse, let instant): take(mouse, at: instant)
    case .update(let address, let feed): take(update: feed, of: address)
    case .size(let size): self.size = size
    case .abilities(let abilities): self.abilities = abilities
    case .page(let address, let feed): take(feed, of: address)
    case .failed(let address, let reason):
      change(address) { source in
        (source.isLoading, source.isRefreshing, source.failure) = (false, false, reason)
        // After a failure, further pages can't be requested: the next load begins with the first page.
        source.hasMore = false
      }
    case .ended(let address):
      change(address) { ($0.isLoading, $0.hasMore) = (false, false) }
    case .kept(let address, let page): take(page, of: address)
    case .unkept(let address):
      change(address) { source in
        guard !source.isRefreshing else { return }
        (source.isLoading, source.hasKept, source.isUnread) = (false, false, true)
      }
    case .starred(let isStarred, let id, let address): setStar(isStarred, id, of: address)
    case .marks(let address, let new, let stars):
      change(address) { ($0.new, $0.stars) = ($0.new.union(new), stars) }
      arrange()
    case .found(let filter, let page):
      guard filter == self.filter else { break }
      if message.hasPrefix(Self.indexing) { message = "" }
      (found, isSearching) = (page, false)
      arrange()
    case .image(let key, let result): take(result, for: key)
    // The result of another key's action, or its hint, is more important.
    case .message(Self.opened) where message != Self.opening: break
    case .message(let text): message = text
    case .clock(let now): self.now = now
    case .nextOfShow: if isShow { step(by: 1, wraps: true) }
    }
    endReload()
    scroll()
    forgetDrawings()
    return actions + loadMore()
  }

  mutating func change(_ address: URL, _ change: (inout Source) -> Void) {
    guard let index = sources.firstIndex(where: { $0.address == address }) else { return }
    change(&sources[index])
  }

  mutating func take(_ feed: Feed, of address: URL) {
    let (now, hasHistory) = (now, hasHistory)
    if let count = reloaded, let source = sources.first(where: { $0.address == address }), source.isRefreshing {
      reloaded = count + source.unknown(in: feed.images).count
    }
    change(address) { source in
      if let former = source.feed, !source.isRefreshing {
        let origin = feed.source.isPart ? feed.source : former.source
        source.feed = Feed(FeedImages(joining: [former.images, feed.images]), source: origin)
      } else {
        source.feed = feed
        source.hasMore = feed.source.isRemote
        // Items that have left the feed are in its history, before the former items that have been read.
        (source.keptPlace, source.keptCount, source.hasKept) = (nil, 0, hasHistory)
      }
      source.name = source.name.isEmpty ? feed.images.title ?? address.host() ?? address.shown : source.name
      (source.isLoading, source.isRefreshing, source.failure, source.loadedAt) = (false, false, nil, now)
    }
    arrange()
  }

  /// Requests the next pages if less than two screens are left to scroll.
  private mutating func loadMore() -> [BrowseAction] {
    guard !isLoading, found == nil else { return [] }
    let isNear = selected + 2 * layout.perScreen >= timeline.count
    let addresses = isNear ? sources.filter { $0.hasMore && $0.feed != nil }.map(\.address) : []
    guard addresses.isEmpty else {
      for address in addresses { change(address) { $0.isLoading = true } }
      return [.more(addresses)]
    }
    // After the last page of each feed, request its former items. If some are shown, read them again after a refresh.
    let sources = sources.filter { $0.hasKept && (isNear || $0.keptCount < $0.kept.count) }
    for source in sources { change(source.address) { $0.isLoading = true } }
    return sources.map { .kept($0.address, after: $0.keptPlace) }
  }

  private mutating func scroll() {
    let (row, visible) = (selected / layout.across, layout.down)
    top = min(max(top, row - visible + 1), row)
    let rows = (timeline.count + layout.across - 1) / layout.across
    top = max(0, min(top, rows - visible))
  }
}
