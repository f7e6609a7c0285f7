import FeedStream
import Foundation
import ImageFeed

/// Loads the latest images before somebody looks: a page then knows their sizes and colors, and has them offline.
///
/// A few at a time, each once; what fails is tried again when somebody looks.
final class GalleryAhead {
  /// How many are loaded at a time.
  private static let width = 3
  /// The width that tiles need.
  private static let tile = 400
  private static let mostTried = 20_000
  /// Many feeds arrive together: their images are put in order once.
  private static let rest = Duration.milliseconds(200)

  private let gallery: Gallery
  private let pictures: Pictures
  private let count: Int
  private var tried: Set<String> = []
  private var running: [String: AnyCancellable] = [:]
  private var waiting: ArraySlice<Gallery.Entry.Image> = []
  private var beginning: AnyCancellable?

  /// - Parameter count: how many of the latest; 0 for none.
  init(_ gallery: Gallery, _ pictures: Pictures, count: Int, on scheduler: any LoopScheduler) {
    (self.gallery, self.pictures, self.count) = (gallery, pictures, count)
    guard count > 0 else { return }
    gallery.onNews = { [unowned self] in
      guard beginning == nil else { return }
      beginning = Just(()).delay(for: Self.rest, scheduler: scheduler).sink { [unowned self] in
        beginning = nil
        begin()
      }
    }
  }

  private func begin() {
    if tried.count >= Self.mostTried { tried = [] }
    waiting = gallery.entries.prefix(count).compactMap(\.images.first).filter { !tried.contains($0.key) }[...]
    goOn()
  }

  private func goOn() {
    while running.count < Self.width, let image = waiting.popFirst() {
      guard tried.insert(image.key).inserted, let named = gallery.picture(image.key) else { continue }
      running[image.key] = AnyCancellable {}
      let loading = pictures.ahead(named, width: Self.tile)
        .sink(receiveCompletion: { [weak self] _ in self?.end(image.key) }, receiveValue: { _ in })
      if running[image.key] != nil { running[image.key] = loading }
    }
  }

  private func end(_ key: String) {
    running[key] = nil
    goOn()
  }
}
