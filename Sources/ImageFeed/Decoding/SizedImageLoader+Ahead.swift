package import FeedStream
package import Foundation

extension SizedImageLoader {
  /// The saved form of an image that was loaded before anyone opened it.
  package struct Ahead: Hashable, Sendable {
    /// The number of bytes that it takes.
    package var bytes: Int
    /// True if a smaller copy is saved in place of the original.
    package var isReduced: Bool
  }

  /// The saved image before it was loaded.
  private enum Before {
    case saved(FetchedImage)
    case new
    /// It couldn't be read.
    case unknown
  }

  /// The width of a tile, which is made of each image that is loaded ahead.
  private static let tile = 400

  /// Loads and saves an image before anyone opens it: the original and a tile, or, if these take more than `room`, the
  /// widest smaller copy that fits, but at least the tile.
  ///
  /// A smaller copy is shown in place of its original as ``ImageLoader/data(for:of:isPrivate:width:)`` describes. Only
  /// an image that wasn't saved before is replaced by a copy, because others have been shown or are starred; and a
  /// smaller copy that is saved already is kept, without a request. The original is always kept if it can't be decoded.
  /// **Demand:** begins when the value is requested. **Failure:** as ``data(for:of:isPrivate:width:)``, and for an image
  /// that is cut off. **Cancellation:** as there.
  ///
  /// - Parameters:
  ///   - url: the image's URL.
  ///   - feed: the feed that lists it.
  ///   - isPrivate: the feed's ``FeedImages/isFromPrivateNetwork``.
  ///   - room: a number of bytes.
  package func ahead(
    _ url: URL, of feed: URL, isPrivate: Bool?, within room: Int
  ) -> AnyPublisher<Ahead, SizedImageError> {
    let report = report
    return cache.image(at: url).retrieve()
      .map { Before.saved($0.value) }
      .replaceEmpty(with: .new)
      .catch { error -> Just<Before> in
        report(error)
        return Just(.unknown)
      }
      .setFailureType(to: SizedImageError.self)
      .flatMap(maxPublishers: .max(1)) { [self] before -> AnyPublisher<Ahead, SizedImageError> in
        if case .saved(let image) = before, image.reducedWidth != nil {
          return Self.ahead(image.data.bytes.count, isReduced: true)
        }
        return loader.data(for: url, of: feed, isPrivate: isPrivate).whole().last().mapError(SizedImageError.image)
          .flatMap(maxPublishers: .max(1)) { [self] original in
            data(for: url, of: feed, isPrivate: isPrivate, width: Self.tile).last()
              .flatMap(maxPublishers: .max(1)) { [self] tile in
                let isTile = tile.data == original.data
                let bytes = original.data.bytes.count + (isTile ? 0 : tile.data.bytes.count)
                guard case .new = before, !isTile, bytes > room else { return Self.ahead(bytes, isReduced: false) }
                return reduce(original.data, at: url, tile.data, within: room)
              }
          }
          .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  private static func ahead(_ bytes: Int, isReduced: Bool) -> AnyPublisher<Ahead, SizedImageError> {
    Just(Ahead(bytes: bytes, isReduced: isReduced)).setFailureType(to: SizedImageError.self).eraseToAnyPublisher()
  }

  /// Replaces a saved original by the widest copy that fits together with the tile, or by the tile.
  private func reduce(
    _ original: ImageData, at url: URL, _ tile: ImageData, within room: Int
  ) -> AnyPublisher<Ahead, SizedImageError> {
    let least = tile.bytes.count
    // A copy that is surely too large isn't made: the bytes grow more slowly than the pixels, but faster than the width.
    let widths = Self.ladder.reversed().filter { $0 > Self.tile && least + least * $0 / Self.tile <= room }
    return widths.publisher.setFailureType(to: ImageDecodingError.self)
      .flatMap(maxPublishers: .max(1)) { [decoder] width in
        decoder.decode(original, fitting: DecodedImage.Size(width: width, height: 0), as: .web)
      }
      .first { $0.size != $0.originalSize && $0.bytes.count + least <= room }
      .map { decoded in
        (try? ImageData(Data(decoded.bytes))).map { (data: $0, width: decoded.size.width) }
      }
      // An image that can be decoded in one size can be decoded in others; if the decoder fails, the tile is there.
      .catch { _ in Empty<(data: ImageData, width: Int)?, Never>() }
      .replaceEmpty(with: nil)
      .flatMap(maxPublishers: .max(1)) { [self] copy in
        replace(url, by: copy?.data ?? tile, width: copy?.width ?? Self.tile, isTile: copy == nil)
          .map { Ahead(bytes: copy.map { $0.data.bytes.count + least } ?? least, isReduced: true) }
      }
      .setFailureType(to: SizedImageError.self)
      .eraseToAnyPublisher()
  }

  /// Saves a copy in place of the original, with its lifetime, but without validators: they belong to other bytes.
  ///
  /// - Parameter isTile: true to delete the saved tile, because the copy takes its place.
  private func replace(_ url: URL, by copy: ImageData, width: Int, isTile: Bool) -> AnyPublisher<Void, Never> {
    let (local, report) = (cache.image(at: url), report)
    return local.retrieve()
      .flatMap(maxPublishers: .max(1)) { original in
        let image = FetchedImage(copy, lifetime: original.value.lifetime, reducedWidth: width)
        return local.saving(Saved(image, timestamp: original.timestamp, validators: FeedValidators()))
      }
      .ignoreOutput()
      .append(isTile ? deletingTile(of: url) : Empty().eraseToAnyPublisher())
      .catch { error -> Empty<Never, Never> in
        report(error)
        return Empty()
      }
      .map { _ in }
      .append(())
      .eraseToAnyPublisher()
  }

  private func deletingTile(of url: URL) -> AnyPublisher<Never, FeedStoreError> {
    guard let key = Self.key(url, width: Self.tile) else { return Empty().eraseToAnyPublisher() }
    return cache.image(at: key).deleting().eraseToAnyPublisher()
  }
}
