import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// Identifies an image at one size.
struct ImageKey: Hashable {
  var url: URL
  /// The feed that lists the image.
  var feed: URL
  /// True if the feed came from a private network; `nil` if that is unknown.
  var isPrivate: Bool?
  var box: ImageBox

  /// - Parameter url: the URL of one of the post's images; its first image by default.
  init(_ entry: FeedTimeline.Entry, url: URL? = nil, box: ImageBox) {
    (self.url, feed, isPrivate, self.box) = (url ?? entry.image.url, entry.address, entry.isFromPrivateNetwork, box)
  }
}

/// An event of `feed browse`.
enum BrowseEvent {
  case key(TerminalKey)
  case mouse(TerminalMouse, at: StreamInstant)
  case size(TerminalSize)
  case abilities(TerminalAbilities)
  /// A page of a feed has arrived.
  case page(URL, Feed)
  /// A poll or another process has found a new version of a feed that is being shown.
  case update(URL, Feed)
  /// A feed, or the next page of it, cannot be loaded.
  case failed(URL, String)
  /// A feed has no more pages.
  case ended(URL)
  /// A page of a feed's former items.
  case kept(URL, SeenPage)
  /// The former items of a feed can't be read.
  case unkept(URL)
  /// An item is starred or not, because a change of its star could not be saved.
  case starred(Bool, FeedImage.ID, of: URL)
  /// The items of a feed that were never shown before, and those that are starred.
  case marks(URL, new: Set<FeedImage.ID>, stars: Set<FeedImage.ID>)
  /// The items in the cache file that match a filter.
  case found(BrowseState.Filter, SeenPage)
  case image(ImageKey, Result<Drawing, NoImage>)
  case message(String)
  case clock(Date)
  /// The next image of the slideshow is due.
  case nextOfShow
}

/// An action that follows from an event.
enum BrowseAction: Equatable {
  case open(URL)
  case copy(String)
  /// Reload the feeds.
  case refresh
  /// Load the next page of these feeds.
  case more([URL])
  /// Read a feed's former items, starting at a position.
  case kept(URL, after: SeenPage.Place?)
  case star(Bool, FeedImage.ID, URL)
  /// Save the image of an item that has been starred.
  case keep(URL, of: URL, isPrivate: Bool?)
  /// Write an image into the folder where the program was started.
  case save(URL, of: URL, isPrivate: Bool?)
  case find(BrowseState.Filter)
  case redraw
  case suspend
  case quit
  /// Quit as if after a signal, because the user pressed Ctrl-C.
  case interrupt
}
