import FeedStream
import Foundation
import ImageFeed

/// Loads the latest images before anyone opens the page, so that the page has their sizes and colors, and works
/// offline.
///
/// Loads a few images at a time, latest first, within a budget: first the main image of each item, and then the others.
/// Smaller copies of those that don't fit are kept.
/// Each is loaded once; a failed one is tried again only when it is requested.
final class GalleryAhead {
  /// The number of images that are loaded at the same time.
  private static let width = 3
  private static let mostTried = 20_000
  /// The maximum number of images other than the items' main ones.
  private static let mostOthers = 5_000
  /// The delay before loading begins, so that the images are sorted only once when many feeds arrive together.
  private static let rest = Duration.milliseconds(200)

  private let gallery: Gallery
  private let images: ServedImages
  private let count: Int
  private var budget: ImageBudget
  /// The number of bytes of each loaded image; 0 for one that failed.
  private var sizes: [String: Int] = [:]
  private var running: [String: AnyCancellable] = [:]
  private var waiting: ArraySlice<Gallery.Entry.Image> = []
  /// The images that are loaded after those, from what these leave of the budget.
  private var others: ArraySlice<Gallery.Entry.Image> = []
  private var beginning: AnyCancellable?
  private var watch: AnyCancellable?

  /// - Parameter count: the number of latest items whose images are loaded; 0 to load none.
  init(
    _ gallery: Gallery, _ images: ServedImages, count: Int, within budget: ImageBudget, on scheduler: any LoopScheduler
  ) {
    (self.gallery, self.images, self.count, self.budget) = (gallery, images, count, budget)
    guard count > 0 else { return }
    watch = gallery.news.sink { [unowned self] in
      guard beginning == nil else { return }
      beginning = Just(()).delay(for: Self.rest, scheduler: scheduler).sink { [unowned self] in
        beginning = nil
        begin()
      }
    }
  }

  /// Starts again with the latest images. Images that were loaded before are only counted.
  private func begin() {
    if sizes.count >= Self.mostTried { sizes = [:] }
    let entries = gallery.entries.prefix(count)
    var known = Set(running.keys)
    let begun = known.compactMap { gallery.image($0)?.namers.first?.address }
    waiting = entries.compactMap(\.images.first).filter { known.insert($0.key).inserted }[...]
    others = entries.lazy.flatMap(\.others).prefix(Self.mostOthers).filter { known.insert($0.key).inserted }[...]
    budget = budget.unspent(for: begun + feeds(of: waiting))
    goOn()
  }

  private func feeds(of images: ArraySlice<Gallery.Entry.Image>) -> [URL] {
    images.compactMap { gallery.image($0.key)?.namers.first?.address }
  }

  private func goOn() {
    while running.count < Self.width, let image = next() {
      guard let named = gallery.image(image.key), let feed = named.namers.first?.address else { continue }
      guard budget.allows(feed) else {
        budget.spend(0, on: feed)
        continue
      }
      if let size = sizes[image.key] {
        budget.spend(size, on: feed)
        continue
      }
      running[image.key] = AnyCancellable {}
      var size = 0
      let loading = images.ahead(named, within: budget.room(for: feed)).sink { [weak self] _ in
        self?.end(image.key, size, of: feed)
      } receiveValue: {
        size = $0
      }
      if running[image.key] != nil { running[image.key] = loading }
    }
  }

  private func next() -> Gallery.Entry.Image? {
    if waiting.isEmpty {
      (waiting, others) = (others, [])
      budget.expect(feeds(of: waiting))
    }
    return waiting.popFirst()
  }

  private func end(_ key: String, _ size: Int, of feed: URL) {
    running[key] = nil
    sizes[key] = size
    budget.spend(size, on: feed)
    goOn()
  }
}
