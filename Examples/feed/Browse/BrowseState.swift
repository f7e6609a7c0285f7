import FeedStream
import Foundation
import ImageFeed
import TerminalPictures

/// The state of `feed browse`: a value that changes with each event and does nothing by itself.
struct BrowseState {
  enum View: Equatable {
    /// Pictures side by side.
    case grid
    /// One picture, as large as the screen.
    case single
    case help
    /// Where each feed comes from, and how old it is.
    case origins
  }

  /// One of the feeds.
  struct Source {
    var address: URL
    var name: String
    var feed: Feed?
    /// When it was loaded.
    var loadedAt: Date?
    /// Why there is none, or none after those that are shown.
    var failure: String?
    var isLoading = true
    /// False when there are no pages after those that are shown.
    var hasMore = true
    /// True when what arrives next replaces what is shown.
    var isRefreshing = false
  }

  var size: TerminalSize
  /// `nil` until the terminal has answered.
  var abilities: TerminalAbilities?
  var sources: [Source]
  var timeline = FeedTimeline([])
  var selected = 0
  /// The first row of pictures on the screen.
  var top = 0
  var view = View.grid
  /// The view to return to when help or origins are left.
  var viewBefore = View.grid
  var pictures: [PictureKey: Result<Drawing, NoPicture>] = [:]
  /// Shown at the bottom until the next key.
  var message = ""
  var now: Date

  init(_ feeds: [(address: URL, name: String)], size: TerminalSize, now: Date) {
    self.size = size
    self.now = now
    sources = feeds.map { Source(address: $0.address, name: $0.name) }
  }

  var isLoading: Bool { sources.contains(where: \.isLoading) }
  var current: FeedTimeline.Entry? { timeline.indices.contains(selected) ? timeline[selected] : nil }
}

/// A picture of a certain size.
struct PictureKey: Hashable {
  var url: URL
  /// The feed that names it.
  var feed: URL
  /// True when that came out of a private network; `nil` when nobody knows.
  var isPrivate: Bool?
  var box: PictureBox

  init(_ entry: FeedTimeline.Entry, box: PictureBox) {
    (url, feed, isPrivate, self.box) = (entry.image.url, entry.address, entry.isFromPrivateNetwork, box)
  }
}

/// An event.
enum BrowseEvent {
  case key(TerminalKey)
  case size(TerminalSize)
  case abilities(TerminalAbilities)
  /// A page of a feed has arrived.
  case page(URL, Feed)
  /// A feed, or the next page of it, cannot be loaded.
  case failed(URL, String)
  /// A feed has no more pages.
  case ended(URL)
  case picture(PictureKey, Result<Drawing, NoPicture>)
  case message(String)
  case clock(Date)
  /// Somebody else has written on the screen.
  case redraw
}

/// An action that follows from an event.
enum BrowseAction: Equatable {
  case open(URL)
  case copy(String)
  /// Reload the feeds.
  case refresh
  /// Load the next page of these feeds.
  case more([URL])
  case redraw
  case suspend
  case quit
}

extension BrowseState {
  /// - Returns: what is to be done.
  mutating func take(_ event: BrowseEvent) -> [BrowseAction] {
    var actions: [BrowseAction] = []
    switch event {
    case .key(let key): actions = take(key)
    case .size(let size): self.size = size
    case .abilities(let abilities): self.abilities = abilities
    case .page(let address, let feed): take(feed, of: address)
    case .failed(let address, let reason):
      change(address) { source in
        (source.isLoading, source.isRefreshing, source.failure) = (false, false, reason)
        // The pages that there were before a refresh are requested again from the first on.
        source.hasMore = false
      }
    case .ended(let address):
      change(address) { ($0.isLoading, $0.hasMore) = (false, false) }
    case .picture(let key, let result): pictures[key] = result
    case .message(let text): message = text
    case .clock(let now): self.now = now
    case .redraw: actions.append(.redraw)
    }
    scroll()
    forgetPictures()
    return actions + loadMore()
  }

  private mutating func change(_ address: URL, _ change: (inout Source) -> Void) {
    guard let index = sources.firstIndex(where: { $0.address == address }) else { return }
    change(&sources[index])
  }

  private mutating func take(_ feed: Feed, of address: URL) {
    let (id, home, now) = (current?.image.id, current?.address, now)
    change(address) { source in
      if let former = source.feed, !source.isRefreshing {
        let origin = feed.source.isPart ? feed.source : former.source
        source.feed = Feed(FeedImages(joining: [former.images, feed.images]), source: origin)
      } else {
        source.feed = feed
        source.hasMore = feed.source.isRemote
      }
      source.name = source.name.isEmpty ? feed.images.title ?? address.host() ?? address.shown : source.name
      (source.isLoading, source.isRefreshing, source.failure, source.loadedAt) = (false, false, nil, now)
    }
    timeline = FeedTimeline(
      sources.compactMap { source in
        source.feed.map { FeedTimeline.Member(address: source.address, name: source.name, feed: $0) }
      })
    // The picture that is looked at stays the one that is looked at.
    if let id, let index = timeline.firstIndex(where: { $0.image.id == id && $0.address == home }) { selected = index }
    selected = min(selected, max(0, timeline.count - 1))
  }

  /// Asks for the next pages when what is left to scroll is less than two screens.
  private mutating func loadMore() -> [BrowseAction] {
    guard !isLoading, selected + 2 * layout.perScreen >= timeline.count else { return [] }
    let addresses = sources.filter { $0.hasMore && $0.feed != nil }.map(\.address)
    guard !addresses.isEmpty else { return [] }
    for address in addresses { change(address) { $0.isLoading = true } }
    return [.more(addresses)]
  }

  // MARK: - Pictures

  /// The pictures that the screen shows, and then those that it will show next.
  var wanted: [PictureKey] {
    guard let box = pictureBox else { return [] }
    let places: [Int]
    if shownView == .single {
      places = [selected, selected + 1, selected - 1, selected + 2]
    } else {
      let (first, count) = (top * layout.across, layout.perScreen)
      places = Array(first..<first + 2 * count) + Array(first - count..<first)
    }
    return places.filter(timeline.indices.contains).map { PictureKey(timeline[$0], box: box) }
  }

  /// The view below help.
  var shownView: View { view == .help || view == .origins ? viewBefore : view }

  var pictureBox: PictureBox? {
    guard let abilities else { return nil }
    let (columns, rows) = shownView == .single ? layout.single : layout.tile
    guard columns >= 4, rows >= 2 else { return nil }
    return PictureBox(columns: columns, rows: rows, mode: abilities.mode, cell: abilities.cell ?? .usual)
  }

  /// Keeps the pictures of a few screens.
  private mutating func forgetPictures() {
    guard pictures.count > 6 * layout.perScreen + 16 else { return }
    let wanted = Set(wanted)
    pictures = pictures.filter { wanted.contains($0.key) }
  }

  private mutating func scroll() {
    let (row, visible) = (selected / layout.across, layout.down)
    top = min(max(top, row - visible + 1), row)
    let rows = (timeline.count + layout.across - 1) / layout.across
    top = max(0, min(top, rows - visible))
  }
}
