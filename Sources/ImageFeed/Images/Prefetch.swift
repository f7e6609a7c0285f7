public import FeedStream

/// A picture of a feed, or why there is none to show.
public struct ShownImage: Sendable {
  public var image: FeedImage
  public var data: Result<LoadedImage, ImageError>

  public init(_ image: FeedImage, data: Result<LoadedImage, ImageError>) {
    self.image = image
    self.data = data
  }
}

extension Sequence<FeedImage> {
  /// The data of each picture, in this order, loaded ahead of who asks for it.
  ///
  /// Nothing is loaded before there is a subscriber that asks; from then on `width` pictures are being loaded or wait to be
  /// asked for: a screen asks for as many as it shows, and finds the next ones there when it scrolls. A picture that cannot
  /// be had is a value too. **Demand:** one picture a request, in the feed's order, each waited for. **Failure:** none.
  /// **Cancellation:** closes the requests that nobody else waits for. **Policy:** holds up to `width` pictures.
  ///
  /// - Parameters:
  ///   - width: how many pictures to load ahead.
  ///   - loader: loads them.
  /// - Precondition: `width` is more than zero.
  public func prefetched(width: Int, with loader: ImageLoader) -> some Publisher<ShownImage, Never> {
    precondition(width > 0, "prefetched(width: \(width)): nothing could be loaded ahead; use 1 or more")
    let images = Array(self)
    return Publishers.Create<ShownImage, Never> { emitter in
      let screen = Prefetching(images, width: width, loader, emitter)
      emitter.onRequest { _ in screen.move() }
      emitter.onCancel { screen.cancel() }
    }
  }
}

/// Loads ahead for one subscriber.
private final class Prefetching {
  /// A load that has begun and was not delivered.
  private final class Load {
    var result: Result<LoadedImage, ImageError>?
    var subscription: AnyCancellable?
  }

  private let images: [FeedImage]
  private let width: Int
  private let loader: ImageLoader
  private let emitter: Publishers.Create<ShownImage, Never>.Emitter
  private var loads: [Load] = []
  private var delivered = 0
  private var isMoving = false

  init(
    _ images: [FeedImage], width: Int, _ loader: ImageLoader, _ emitter: Publishers.Create<ShownImage, Never>.Emitter
  ) {
    self.images = images
    self.width = width
    self.loader = loader
    self.emitter = emitter
  }

  /// Delivers what is asked for and there, and begins as many loads as may run.
  func move() {
    // A load may end while it begins, and a subscriber ask while it is given something.
    guard !isMoving else { return }
    isMoving = true
    defer { isMoving = false }
    repeat {
      while emitter.demand > .none, let result = loads.first?.result {
        loads.removeFirst()
        delivered += 1
        emitter.send(ShownImage(images[delivered - 1], data: result))
      }
      if delivered == images.count { emitter.send(completion: .finished) }
    } while emitter.isActive && beginLoads()
  }

  /// - Returns: true when the next picture to deliver is there.
  private func beginLoads() -> Bool {
    while loads.count < width, delivered + loads.count < images.count {
      let load = Load()
      loads.append(load)
      load.subscription = loader.data(for: images[delivered + loads.count - 1].url).asResult()
        .sink { [weak self, weak load] in
          load?.result = $0
          self?.move()
        }
    }
    return emitter.demand > .none && loads.first?.result != nil
  }

  func cancel() { loads = [] }
}
