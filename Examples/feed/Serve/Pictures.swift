import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Pictures on their way from their servers to the page, by way of the cache: reading is private, and works offline.
final class Pictures {
  struct Picture {
    let bytes: Chunk
    let type: String
    let tag: String
  }

  /// Why there is none.
  struct Problem: Error {
    let status: HTTPServer.Status
    let reason: String
  }

  private let loader: SizedImageLoader
  /// How often pictures were asked for, and what became of that.
  private(set) var fromServers = 0
  private(set) var fromCache = 0
  private(set) var failures = 0

  init(_ loader: SizedImageLoader) { self.loader = loader }

  /// How many were made smaller.
  var made: Int { loader.made }

  /// The picture at `url`, if it is one that browsers show, by its first bytes, whatever its server says.
  ///
  /// - Parameters:
  ///   - feed: the feed that names it.
  ///   - width: how wide it is shown, in pixels; `nil` for the original.
  func picture(at url: URL, of feed: URL, width: Int?) -> AnyPublisher<Picture, Problem> {
    loader.data(for: url, of: feed, width: width)
      .handleEvents(
        receiveOutput: { [unowned self] image in
          if image.source == .remote { fromServers += 1 } else { fromCache += 1 }
        },
        receiveCompletion: { [unowned self] completion in if case .failure = completion { failures += 1 } }
      )
      .mapError { Problem($0) }
      .flatMap { image in Self.shown(image.data).publisher }
      .eraseToAnyPublisher()
  }

  private static func shown(_ image: ImageData) -> Result<Picture, Problem> {
    guard image.kind.isForBrowsers else {
      let reason = "Browsers do not show pictures of the kind \(image.kind.rawValue)."
      return .failure(Problem(status: .badGateway, reason: reason))
    }
    let tag = String(BodyDigest(image.bytes).value, radix: 36)
    return .success(Picture(bytes: Chunk(image.bytes), type: image.kind.type, tag: tag))
  }
}

extension Pictures.Problem {
  init(_ error: SizedImageError) {
    reason = "\(error)".printable(limit: 300)
    if case .picture(let error) = error, error.isTemporary {
      status = .serviceUnavailable
    } else {
      status = .badGateway
    }
  }
}
