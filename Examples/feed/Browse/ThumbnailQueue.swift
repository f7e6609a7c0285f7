import FeedStream
import ImageFeed
import TerminalImages

/// The images that the screen needs, loaded a few at a time, in the order in which the screen shows them. Loads that
/// are no longer needed are cancelled.
final class ThumbnailQueue {
  var post: (BrowseEvent) -> Void = { _ in }
  private let thumbnails: Thumbnails
  private var running: [ImageKey: AnyCancellable] = [:]

  init(_ thumbnails: Thumbnails) { self.thumbnails = thumbnails }

  func want(_ keys: [ImageKey], _ there: [ImageKey: Result<Drawing, NoImage>]) {
    let wanted = Set(keys)
    running = running.filter { wanted.contains($0.key) && there[$0.key] == nil }
    for key in keys where there[key] == nil && running[key] == nil && running.count < Thumbnails.width {
      running[key] = thumbnails.drawing(of: key.url, named: key.feed, key.isPrivate, in: key.box)
        .sink { [weak self] in self?.post(.image(key, $0)) }
    }
  }

  func cancel() {
    running = [:]
    thumbnails.close()
  }
}
