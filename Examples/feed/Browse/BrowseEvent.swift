import FeedStream
import Foundation
import ImageFeed
import TerminalPictures

/// An image of a certain size.
struct PictureKey: Hashable {
  var url: URL
  /// The feed that names it.
  var feed: URL
  /// True when that came out of a private network; `nil` when nobody knows.
  var isPrivate: Bool?
  var box: PictureBox

  /// - Parameter url: that of one of the images of the post; of its first unless given.
  init(_ entry: FeedTimeline.Entry, url: URL? = nil, box: PictureBox) {
    (self.url, feed, isPrivate, self.box) = (url ?? entry.image.url, entry.address, entry.isFromPrivateNetwork, box)
  }
}

/// An event.
enum BrowseEvent {
  case key(TerminalKey)
  case mouse(TerminalMouse, at: StreamInstant)
  case size(TerminalSize)
  case abilities(TerminalAbilities)
  /// A page of a feed has arrived.
  case page(URL, Feed)
  /// A poll, or another process, has found a feed again while its items are looked at.
  case update(URL, Feed)
  /// A feed, or the next page of it, cannot be loaded.
  case failed(URL, String)
  /// A feed has no more pages.
  case ended(URL)
  /// Some of what a feed had.
  case kept(URL, SeenPage)
  /// The items of a feed that nobody had seen, and those that are starred.
  case marks(URL, new: Set<FeedImage.ID>, stars: Set<FeedImage.ID>)
  /// The cache file's answer to a filter.
  case found(BrowseState.Filter, SeenPage)
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
  /// Read what a feed had, from a place on.
  case kept(URL, after: SeenPage.Place?)
  case star(Bool, FeedImage.ID, URL)
  /// Save the image of what was starred before.
  case keep(URL, of: URL, isPrivate: Bool?)
  /// Write an image into the folder in which the program was started.
  case save(URL, of: URL, isPrivate: Bool?)
  case find(BrowseState.Filter)
  case redraw
  case suspend
  case quit
  /// Quits as a signal would: somebody pressed Ctrl-C.
  case interrupt
}
