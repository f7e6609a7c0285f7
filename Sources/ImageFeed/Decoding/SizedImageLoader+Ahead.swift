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

  /// The saved form of the image before it is loaded.
  private enum Before {
    case new
    /// A copy, unless the store's owner keeps the image.
    case copy(FetchedImage)
    /// Something that no copy may replace, or that couldn't be read.
    case original
  }

  /// The width of a tile, which is made of each image that is loaded ahead.
  private static let tile = 400

  /// Loads and saves an image before anyone opens it: the original and a tile, or, if these take more than `room`, the
  /// widest smaller copy that fits, but at least the tile.
  ///
  /// A smaller copy is shown in place of its original as ``ImageLoader/data(for:of:isPrivate:width:)`` describes. Only
  /// an image that wasn't saved before and isn't kept (``ImageStore/isKept(_:)``) is replaced by a copy, because others
  /// have been shown or are starred; and a copy that is saved already stays, without a request. The original stays if it
  /// can't be decoded, or not now. **Demand:** begins when the value is requested. **Failure:**
  /// ``SizedImageError/image(_:)``, for an image that is cut off, too. **Cancellation:** as
  /// ``data(for:of:isPrivate:width:)``.
  ///
  /// - Parameters:
  ///   - url: the image's URL.
  ///   - feed: the feed that lists it.
  ///   - isPrivate: the feed's ``FeedImages/isFromPrivateNetwork``.
  ///   - room: a number of bytes.
  package func ahead(
    _ url: URL, of feed: URL, isPrivate: Bool?, within room: Int
  ) -> AnyPublisher<Ahead, SizedImageError> {
    let local = cache.image(at: url)
    return local.retrieve()
      .flatMap(maxPublishers: .max(1)) { saved -> AnyPublisher<Before, FeedStoreError> in
        guard saved.value.reducedWidth != nil else {
          return Just(.original).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
        }
        return local.isKept().replaceError(with: false).map { $0 ? .original : .copy(saved.value) }
          .setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
      }
      .replaceEmpty(with: .new)
      .catch { [report] error -> Just<Before> in
        report(error)
        return Just(.original)
      }
      .setFailureType(to: SizedImageError.self)
      .flatMap(maxPublishers: .max(1)) { [self] before -> AnyPublisher<Ahead, SizedImageError> in
        if case .copy(let image) = before { return copied(image, at: url) }
        return loader.data(for: url, of: feed, isPrivate: isPrivate).whole().original().last()
          .mapError(SizedImageError.image)
          .flatMap(maxPublishers: .max(1)) { [self] original in
            tile(of: original, at: url).last()
              .catch { error -> AnyPublisher<LoadedImage, SizedImageError> in
                guard case .decoding = error else { return Fail(error: error).eraseToAnyPublisher() }
                return Self.just(original)
              }
              .flatMap(maxPublishers: .max(1)) { [self] tile -> AnyPublisher<Ahead, SizedImageError> in
                let isTile = tile.data == original.data
                let bytes = original.data.bytes.count + (isTile ? 0 : tile.data.bytes.count)
                let whole = Ahead(bytes: bytes, isReduced: false)
                guard case .new = before, !isTile, bytes > room else { return Self.just(whole) }
                return reduce(original.data, at: url, tile.data, within: room)
                  .replaceEmpty(with: whole)
                  .setFailureType(to: SizedImageError.self)
                  .eraseToAnyPublisher()
              }
          }
          .eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  private func tile(of original: LoadedImage, at url: URL) -> AnyPublisher<LoadedImage, SizedImageError> {
    guard decoder.isAvailable, let key = Self.key(url, width: Self.tile) else { return Self.just(original) }
    return fit(original, at: url, Self.tile, key)
  }

  /// A copy that is saved already, with its tile, if that is a different image.
  private func copied(_ copy: FetchedImage, at url: URL) -> AnyPublisher<Ahead, SizedImageError> {
    let tile = Self.key(url, width: Self.tile).map { cache.image(at: $0).retrieve() }
    return (tile ?? Empty().eraseToAnyPublisher())
      .map(\.value.data.bytes.count)
      .replaceError(with: 0)
      .replaceEmpty(with: 0)
      .map { Ahead(bytes: copy.data.bytes.count + $0, isReduced: true) }
      .setFailureType(to: SizedImageError.self)
      .eraseToAnyPublisher()
  }

  /// Replaces a saved original by the widest copy that fits together with the tile, or by the tile. Finishes without a
  /// value if the original stays.
  private func reduce(
    _ original: ImageData, at url: URL, _ tile: ImageData, within room: Int
  ) -> some Publisher<Ahead, Never> {
    let least = tile.bytes.count
    // A copy that is surely too large isn't made: the bytes grow more slowly than the pixels, but faster than the width.
    let widths = Self.ladder.reversed().filter { $0 > Self.tile && least + least * $0 / Self.tile <= room }
    return widths.publisher.setFailureType(to: ImageDecodingError.self)
      .flatMap(maxPublishers: .max(1)) { [decoder] width in
        decoder.decode(original, fitting: DecodedImage.Size(width: width, height: 0), as: .web)
      }
      .first { $0.size != $0.originalSize && $0.bytes.count + least <= room }
      .tryMap { Copy(data: try ImageData(Data($0.bytes)), width: $0.size.width, bytes: $0.bytes.count + least) }
      .replaceEmpty(with: Copy(data: tile, width: Self.tile, bytes: least))
      .catch { _ in Empty<Copy, Never>() }
      .flatMap(maxPublishers: .max(1)) { [self] copy in
        replace(original, at: url, by: copy).map { Ahead(bytes: copy.bytes, isReduced: true) }
      }
  }

  /// A smaller copy of an image.
  private struct Copy {
    let data: ImageData
    let width: Int
    /// The number of bytes, including those of the tile, if that is a different image.
    let bytes: Int
  }

  /// Saves a copy in place of the original, and deletes the tile if that is the copy. Delivers a value if that was
  /// done. A version that was saved in the meantime stays, unless another process saves it at the same moment.
  private func replace(_ original: ImageData, at url: URL, by copy: Copy) -> some Publisher<Void, Never> {
    let (cache, report) = (cache, report)
    let tile = copy.width == Self.tile ? Self.key(url, width: Self.tile) : nil
    return cache.image(at: url).reducing(original, to: copy.data, width: copy.width)
      .filter { $0 }
      .flatMap(maxPublishers: .max(1)) { _ -> AnyPublisher<Void, FeedStoreError> in
        let deleting = tile.map { cache.image(at: $0).deleting() } ?? Empty().eraseToAnyPublisher()
        return deleting.append(()).eraseToAnyPublisher()
      }
      .catch { error -> Empty<Void, Never> in
        report(error)
        return Empty()
      }
  }
}
