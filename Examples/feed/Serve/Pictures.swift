import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed

/// Pictures on their way from their servers to the page, by way of the cache: reading is private, and works offline.
final class Pictures {
  struct Picture {
    let bytes: Chunk
    let type: String
    let tag: String
  }

  private let loader: ImageLoader
  /// How often pictures were asked for, and what became of that.
  private(set) var fromServers = 0
  private(set) var fromCache = 0
  private(set) var failures = 0

  init(_ loader: ImageLoader) { self.loader = loader }

  /// The picture at `url`, if it is one that browsers show, by its first bytes, whatever its server says.
  ///
  /// - Parameter feed: the feed that names it.
  func picture(at url: URL, of feed: URL) -> AnyPublisher<Picture, HTTPServer.Status> {
    loader.data(for: url, of: feed)
      .handleEvents(
        receiveOutput: { [unowned self] image in
          if image.source == .remote { fromServers += 1 } else { fromCache += 1 }
        },
        receiveCompletion: { [unowned self] completion in if case .failure = completion { failures += 1 } }
      )
      .mapError { _ in HTTPServer.Status.badGateway }
      .flatMap { image in Self.shown(image.data).publisher }
      .eraseToAnyPublisher()
  }

  private static func shown(_ image: ImageData) -> Result<Picture, HTTPServer.Status> {
    switch image.kind {
    case .jpeg, .png, .gif, .webp, .avif, .bmp, .icon:
      let tag = String(BodyDigest(image.bytes).value, radix: 36)
      return .success(Picture(bytes: Chunk(image.bytes), type: image.kind.type, tag: tag))
    case .heif, .jpegXL, .tiff: return .failure(.badGateway)
    }
  }
}
