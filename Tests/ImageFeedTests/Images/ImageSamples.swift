import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting

@testable import ImageFeed

/// A small PNG, judged by its first bytes; the others distinguish it from other samples.
func makePNG(_ mark: UInt8 = 1, count: Int = 100) -> Data {
  Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + [UInt8](repeating: mark, count: max(0, count - 8)))
}

func makeSavedImage(
  _ mark: UInt8 = 1, count: Int = 100, at timestamp: Date = noon, lifetime: Duration = .seconds(3600),
  validators: FeedValidators = FeedValidators()
) throws -> Saved<FetchedImage> {
  Saved(
    FetchedImage(try ImageData(makePNG(mark, count: count)), lifetime: lifetime), timestamp: timestamp,
    validators: validators)
}

/// A server of images, a cache and a wall clock in virtual time.
final class ImageWorld {
  let time = VirtualTimeScheduler()
  let network: VirtualNetwork
  let store: any ImageStore
  let clock = WallClock()
  let cache: ImageCache
  let loader: ImageLoader
  var reported: [FeedStoreError] = []

  init(store: any ImageStore = InMemoryImageStore(), memoryLimit: Int = 64 << 20) {
    self.store = store
    network = VirtualNetwork(on: time)
    cache = ImageCache(store: store, on: time, memoryLimit: memoryLimit, now: { [clock] in clock.now })
    var report: (FeedStoreError) -> Void = { _ in }
    loader = ImageLoader(client: network, cache: cache, reportingTo: { report($0) })
    report = { [unowned self] in reported.append($0) }
  }

  /// The world of a new process, in which nothing is in memory.
  func restarted() -> ImageWorld {
    let world = ImageWorld(store: store)
    world.clock.now = clock.now
    return world
  }

  /// Loads an image, runs until nothing is left to do, and returns the result.
  func outcome(of url: URL) -> Result<LoadedImage, ImageError>? {
    var result: Result<LoadedImage, ImageError>?
    let subscription = loader.data(for: url).asResult().sink { result = $0 }
    time.run()
    subscription.cancel()
    return result
  }
}

let imageURL = URL(string: "https://images.example/1.png")!
