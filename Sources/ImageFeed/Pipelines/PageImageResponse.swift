import FeedFormats
package import FeedStream
import Foundation

/// The response to the request for an item's page.
package enum PageImageResponse: Sendable {
  /// The URL of the page's image, and ``HTTPResponse/isPrivate`` of the page.
  case image(String, isPrivate: Bool?)
  /// The page has no image, or there is no such page.
  case nothing
  /// The server requests a pause (429, 503), or has failed: the page may have an image.
  case later
}

extension Publisher where Output == StreamingResponse, Failure == HTTPError {
  /// Maps the response from an item's page to the page's image.
  ///
  /// At most `PageImage.mostBytes` of the page are read; then the transfer is closed. If the URL leads directly to an
  /// image, that image is used. **Demand:** passes through. **Failure:** the reason why no response arrived.
  /// **Cancellation:** closes the transfer.
  ///
  /// - Parameter worker: searches the page, off the loop.
  package func asPageImage(_ worker: SerialWorker) -> AnyPublisher<PageImageResponse, HTTPError> {
    flatMap(maxPublishers: .max(1)) { response -> AnyPublisher<PageImageResponse, HTTPError> in
      func just(_ value: PageImageResponse) -> AnyPublisher<PageImageResponse, HTTPError> {
        Just(value).setFailureType(to: HTTPError.self).eraseToAnyPublisher()
      }
      guard response.status == 200 else {
        let isPassing = response.status >= 500 || [408, 425, 429].contains(response.status)
        return just(isPassing ? .later : .nothing)
      }
      let type = (response.headers["Content-Type"] ?? "text/html").lowercased().prefix { $0 != ";" }
        .filter { !$0.isWhitespace }
      if type.hasPrefix("image/") {
        let isSVG = type.hasPrefix("image/svg")
        return just(isSVG ? .nothing : .image(response.url.absoluteString, isPrivate: response.isPrivate))
      }
      guard type.hasPrefix("text/") || type == "application/xhtml+xml" else { return just(.nothing) }
      let (address, isPrivate) = (response.url.absoluteString, response.isPrivate)
      return response.body
        .prefix(bytes: PageImage.mostBytes)
        .reduce(into: [UInt8]()) { bytes, chunk in chunk.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        .flatMap { page in
          worker.publisher { () throws(Never) -> PageImageResponse in
            PageImage.address(inPage: page, address: address).map { .image($0, isPrivate: isPrivate) } ?? .nothing
          }
          .setFailureType(to: HTTPError.self)
        }
        .eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }
}
