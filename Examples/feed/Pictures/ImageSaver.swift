import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Saves the images of loaded feeds, for offline use.
final class ImageSaver {
  /// The number of images that are loaded at a time.
  private static let width = 8

  private struct Wish: Hashable {
    let feed: URL
    let url: URL
    let isPrivate: Bool?
  }

  private let loader: ImageLoader
  private let session: Session
  private var running: AnyCancellable?

  init(for common: CommonOptions, client: any HTTPClient, on session: Session) {
    self.session = session
    loader = ImageLoader(for: common, client: client, on: session)
  }

  /// Loads and saves the image of each item, unless the session ends, and calls back. What fails is reported.
  func save(_ feeds: [(address: URL, images: FeedImages)], then: @escaping () -> Void) {
    var known: Set<URL> = []
    let wishes = feeds.flatMap { address, images in
      images.map { Wish(feed: address, url: $0.url, isPrivate: images.isFromPrivateNetwork) }
    }
    .filter { known.insert($0.url).inserted }
    let console = session.console
    var (saved, failed) = (0, 0)
    running = wishes.publisher
      .flatMap(maxPublishers: .max(Self.width)) { [loader] wish in
        loader.data(for: wish.url, of: wish.feed, isPrivate: wish.isPrivate).last()
          .map { _ -> (URL, ImageError?) in (wish.url, nil) }
          .catch { Just((wish.url, $0)) }
      }
      .sink { _ in
        console.setStatus("")
        console.note("Saved: \(saved) of \(FeedText.count(saved + failed))")
        then()
      } receiveValue: { url, error in
        if let error {
          failed += 1
          console.warn("\(url.shown): \(error)")
        } else {
          saved += 1
        }
        console.setStatus("images: \(saved + failed) of \(wishes.count)…")
      }
    session.keep(AnyCancellable { [self] in running = nil })
  }
}
