import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Saves the images of loaded feeds, for offline use.
final class ImageSaver {
  /// The number of images that are loaded at the same time.
  private static let width = 8

  private struct Wish: Hashable {
    let feed: URL
    let url: URL
    let isPrivate: Bool?
  }

  private var loader: ImageLoader!
  private let session: Session
  private let limits: ImageBudget
  /// The number of bytes of each saved image; 0 for one that failed, which is tried again at the next update.
  private var sizes: [URL: Int] = [:]
  /// The number of loaded images that couldn't be saved.
  private var unsaved = 0
  private var running: AnyCancellable?

  init(for common: CommonOptions, _ budget: ImageBudgetOption, client: any HTTPClient, on session: Session) {
    self.session = session
    limits = budget.budget(within: common)
    loader = ImageLoader(for: common, client: client, on: session) { [unowned self] in unsaved += 1 }
    session.keep(AnyCancellable { [self] in running = nil })
  }

  /// Loads and saves the image of each item, within the budget, starting with the first images of each feed. Reports
  /// failures. Calls back at the end, unless the session ends. Call this again only after it has called back.
  ///
  /// - Parameter isTold: true to report how many images were saved.
  func save(_ feeds: [(address: URL, images: FeedImages)], isTold: Bool = true, then: @escaping () -> Void) {
    var known: Set<URL> = []
    var budget = limits
    let wishes = feeds.flatMap { address, images in
      images.map { Wish(feed: address, url: $0.url, isPrivate: images.isFromPrivateNetwork) }
    }
    .filter { known.insert($0.url).inserted }
    let console = session.console
    var (saved, failed, left) = (0, 0, 0)
    unsaved = 0
    running = wishes.publisher
      .flatMap(maxPublishers: .max(Self.width)) { [self] wish -> AnyPublisher<Result<Int, ImageError>?, Never> in
        guard budget.allows(wish.feed) else {
          left += 1
          return Just(nil).eraseToAnyPublisher()
        }
        if let size = sizes[wish.url], size > 0 {
          budget.spend(size, on: wish.feed)
          return Empty().eraseToAnyPublisher()
        }
        return loader.data(for: wish.url, of: wish.feed, isPrivate: wish.isPrivate).whole().last()
          .map { Result<Int, ImageError>.success($0.data.bytes.count) }
          .catch { Just(.failure($0)) }
          .handleEvents(receiveOutput: { [self] result in
            if case .failure(let error) = result, sizes[wish.url] == nil {
              console.warn("\(wish.url.shown): \(error)")
            }
            let size = (try? result.get()) ?? 0
            sizes[wish.url] = size
            budget.spend(size, on: wish.feed)
          })
          .map { Optional($0) }
          .eraseToAnyPublisher()
      }
      .sink { [self] _ in
        console.setStatus("")
        if isTold { console.note("Saved \(saved - unsaved) of \(counted(saved + failed + left, "image"))") }
        if isTold, left > 0 {
          let size = ByteCount(limits.perFeed).text
          console.hint("to save more, raise --images-per-feed (\(size)) or --image-cache-size")
        }
        then()
      } receiveValue: { result in
        switch result {
        case .success?: saved += 1
        case .failure?: failed += 1
        case nil: break
        }
        console.setStatus("images: \(saved + failed) of \(wishes.count)…")
      }
  }
}
