import FeedStream
import Foundation
import ImageFeed
import TerminalImages

/// Images for the terminal: loaded from the cache if possible, decoded in another process, and drawn off the loop.
final class Thumbnails {
  /// The number of images that are loaded ahead.
  static let width = 8

  private let loader: ImageLoader
  private let decoder: ImageDecoder
  private let scheduler: any LoopScheduler
  private let isOffline: Bool

  init(_ loader: ImageLoader, _ decoder: ImageDecoder, isOffline: Bool = false, on scheduler: any LoopScheduler) {
    self.loader = loader
    self.decoder = decoder
    self.scheduler = scheduler
    self.isOffline = isOffline
  }

  /// False if the decoder isn't installed.
  var isAvailable: Bool { decoder.isAvailable }

  /// The image at a URL from a feed, drawn for a box, or the reason why there is none.
  ///
  /// - Parameter isPrivate: true if the feed came from a private network; `nil` if that is unknown.
  func drawing(
    of url: URL, named feed: URL, _ isPrivate: Bool?, in box: ImageBox
  ) -> some Publisher<Result<Drawing, NoImage>, Never> {
    let (decoder, scheduler, isOffline) = (decoder, scheduler, isOffline)
    return loader.data(for: url, of: feed, isPrivate: isPrivate, width: box.wantedPixels.width)
      .mapError { error in
        // Another process may save it.
        isOffline ? NoImage(reason: "not saved", isPassing: true) : NoImage(error)
      }
      .flatMap(maxPublishers: .max(1)) { image in
        decoder.decode(image.data, fitting: box.wantedPixels)
          .mapError { NoImage(reason: Self.reason($0, image.data.kind)) }
      }
      .flatMap(maxPublishers: .max(1)) { decoded in
        SerialWorker(on: scheduler).publisher { () throws(NoImage) in try box.drawing(of: decoded) }
      }
      .map(Result.success)
      .catch { Just(.failure($0)) }
  }

  private static func reason(_ error: ImageDecodingError, _ kind: ImageData.Kind) -> String {
    switch error {
    case .unsupported: "\(kind.rawValue.uppercased()) isn't shown"
    case .unavailable: "no decoder"
    default: "\(error)"
    }
  }

  /// Loads the image of a starred item, and saves it.
  func keep(_ url: URL, of feed: URL, isPrivate: Bool?) -> AnyPublisher<LoadedImage, ImageError> {
    loader.keep(url, of: feed, isPrivate: isPrivate)
  }

  /// The data of an image as its server sent it. Fails if the image is cut off, or if only a smaller copy is saved.
  func original(_ url: URL, of feed: URL, isPrivate: Bool?) -> some Publisher<ImageData, NoImage> {
    loader.data(for: url, of: feed, isPrivate: isPrivate).whole()
      .mapError { NoImage($0) }
      .flatMap(maxPublishers: .max(1)) { image -> Result<ImageData, NoImage>.Publisher in
        .init(image.isReduced ? .failure(NoImage(reason: "only a smaller copy is in the cache")) : .success(image.data))
      }
  }

  func close() { decoder.close() }
}

/// The maximum size of an image, and the way the terminal shows it.
struct ImageBox: Hashable {
  var columns: Int
  var rows: Int
  var mode: ImageMode
  var cell: CellSize
  var near = Near()
  /// True to enlarge an image that is smaller than the box. Images made of characters have few pixels anyway.
  var isEnlarged = false

  /// The zoom of an image, and its visible part.
  struct Near: Hashable {
    /// The maximum number of steps, which enlarge the image eightfold.
    private static let most = 3
    /// The number of steps; each doubles the size.
    private(set) var steps = 0
    /// The distance from the middle of the image to the middle of the box, in quarters of the box.
    private(set) var x = 0
    private(set) var y = 0

    var isNear: Bool { steps > 0 }
    var scale: Int { 1 << steps }

    mutating func zoom(by change: Int) {
      let before = scale
      steps = min(max(steps + change, 0), Self.most)
      (x, y) = (x * scale / before, y * scale / before)
      move(x: 0, y: 0)
    }

    /// Moves by quarters of the box, up to the edges of the image.
    ///
    /// - Parameter limit: the maximum distances; by default, those of an image that fills the box before it is zoomed.
    mutating func move(x: Int, y: Int, within limit: (x: Int, y: Int)? = nil) {
      let limit = limit ?? (x: 2 * (scale - 1), y: 2 * (scale - 1))
      func moved(_ old: Int, by change: Int, within limit: Int) -> Int {
        // The old position may be further out, from a time when the limit was unknown or larger.
        min(max(min(max(old, -limit), limit) + change, -limit), limit)
      }
      (self.x, self.y) = (moved(self.x, by: x, within: limit.x), moved(self.y, by: y, within: limit.y))
    }

    /// The maximum distance of an image from the middle of the box; 0 if the zoomed image fits.
    ///
    /// - Parameters:
    ///   - length: the width or the height of the image before it is zoomed.
    ///   - room: that of the box.
    func limit(_ length: Int, in room: Int) -> Int {
      // The distance in quarters: half of the excess, times four, rounded up.
      let excess = max(length * scale - room, 0)
      return (2 * excess + room - 1) / max(room, 1)
    }
  }

  /// The size in pixels.
  private var pixels: (width: Int, height: Int) { (columns * cell.width, rows * cell.height) }

  var wantedPixels: DecodedImage.Size {
    DecodedImage.Size(width: pixels.width * near.scale, height: pixels.height * near.scale)
  }

  func drawing(of image: DecodedImage) throws(NoImage) -> Drawing {
    let (width, height) = (image.size.width, image.size.height)
    guard width > 0, height > 0, image.bytes.count == width * height * 4 else { throw NoImage(reason: "no pixels") }
    var bitmap = Bitmap(width: width, height: height, rgba: Array(image.bytes))
    if near.isNear {
      // The decoder doesn't enlarge images: enlarge the visible part if there are fewer pixels than wanted.
      let largest = min(Double(pixels.width) / Double(width), Double(pixels.height) / Double(height))
      let fit = isEnlarged ? largest : min(1, largest)
      let scale = max(1, Double(near.scale) * fit)
      func unscaled(_ length: Int) -> Int { Int((Double(length) / scale).rounded(.awayFromZero)) }
      func scaled(_ length: Int) -> Int { Int((Double(length) * scale).rounded()) }
      let part = bitmap.part(
        width: unscaled(pixels.width), height: unscaled(pixels.height), x: unscaled(near.x * pixels.width / 4),
        y: unscaled(near.y * pixels.height / 4))
      bitmap = part.scaled(
        toWidth: min(scaled(part.width), pixels.width), height: min(scaled(part.height), pixels.height))
    }
    return Drawing(bitmap, columns: columns, rows: rows, mode: mode, cell: cell, isEnlarged: isEnlarged && !near.isNear)
  }
}

/// A client that makes no requests.
struct OfflineClient: HTTPClient {
  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { fail(request) }
  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> { fail(request) }

  private func fail<Output>(_ request: HTTPRequest) -> AnyPublisher<Output, HTTPError> {
    Fail(error: HTTPError(.connect, host: request.url.host() ?? "")).eraseToAnyPublisher()
  }
}
