public import FeedStream
public import Foundation

/// Loads images in sizes that fit a screen. A decoder creates each size once, and the cache keeps it next to the
/// original.
///
/// There are few widths (``ladder``), so that clients can't fill the disk by requesting many of them. Use the loader
/// only on its scheduler's thread, like a stream.
public final class SizedImageLoader {
  /// The widths of the resized images, in pixels.
  public static let ladder = [200, 400, 800, 1600]

  /// The result for an image that has this digest and was not resized; `error` is `nil` if the original is shown.
  private struct Finding {
    let digest: BodyDigest
    let error: ImageDecodingError?
  }

  let loader: ImageLoader
  let cache: ImageCache
  let decoder: ImageDecoder
  let report: (FeedStoreError) -> Void
  private let flights = Flights<ImageWish, LoadedImage, SizedImageError>()
  /// The findings, by the URL of the resized image, or of the original if it can't be decoded in any size.
  private var findings: [URL: Finding] = [:]
  /// The number of images decoded for resizing so far, including those whose originals were delivered instead.
  public private(set) var made = 0
  /// Called with the facts about an image when it has been decoded. Does nothing by default.
  public var onFacts: (URL, ImageFacts) -> Void = { _, _ in }

  /// - Parameters:
  ///   - loader: loads the originals.
  ///   - cache: stores the resized images. Pass `loader`'s own cache to apply its limits to originals and resized images
  ///     together.
  ///   - decoder: makes the resized images.
  ///   - report: receives the error of a failed save; the image is still shown. Does nothing by default.
  public init(
    _ loader: ImageLoader, cache: ImageCache, decoder: ImageDecoder,
    reportingTo report: @escaping (FeedStoreError) -> Void = { _ in }
  ) {
    self.loader = loader
    self.cache = cache
    self.decoder = decoder
    self.report = report
  }

  /// The image at a URL, in the smallest width of the ladder that is at least `width`.
  ///
  /// The original is delivered if `width` is more than the ladder's largest width, and if there is no decoder. An
  /// original in a format that browsers show is also delivered in three other cases: the resized image would not have
  /// fewer pixels and fewer bytes; the decoder doesn't support the format; or the decoder is busy, can't start, or is
  /// closed. A resized image is a JPEG, or a PNG if a pixel is transparent; an animation becomes a still image, even if
  /// that has as many pixels, except at the ladder's largest width. A resized image is considered current as long as its
  /// original is, and is made again when the original has changed. It is still delivered if the original can't be loaded
  /// and is not saved. If only a smaller copy of the original is saved, and that is too small, the original is loaded;
  /// if that fails, the copy is delivered, except in place of the original.
  ///
  /// **Demand, cancellation:** as in ``ImageLoader/data(for:of:isPrivate:width:)``. **Failure:** ``SizedImageError``; an
  /// image that can't be decoded isn't tried again during the lifetime of this loader, unless its bytes change.
  ///
  /// - Parameters:
  ///   - url: the image's URL.
  ///   - feed: the feed that lists it, as for ``ImageLoader/data(for:of:isPrivate:width:)``.
  ///   - isPrivate: the feed's ``FeedImages/isFromPrivateNetwork``.
  ///   - width: the width in pixels; `nil` for the original.
  public func data(
    for url: URL, of feed: URL? = nil, isPrivate: Bool? = nil, width: Int? = nil
  ) -> AnyPublisher<LoadedImage, SizedImageError> {
    let step = width.flatMap { width in Self.ladder.first { $0 >= width } }
    guard decoder.isAvailable, let step, let key = Self.key(url, width: step) else {
      let loaded = loader.data(for: url, of: feed, isPrivate: isPrivate, width: width)
      return (width == nil ? loaded.original().eraseToAnyPublisher() : loaded).mapError(SizedImageError.image)
        .eraseToAnyPublisher()
    }
    return flights.join(ImageWish(url: key, feed: feed, isPrivate: isPrivate)) { [self] in
      load(url, of: feed, isPrivate, step, key)
    }
  }

  /// Loads and saves the original: see ``ImageLoader/keep(_:of:isPrivate:)``.
  public func keep(_ url: URL, of feed: URL? = nil, isPrivate: Bool? = nil) -> AnyPublisher<LoadedImage, ImageError> {
    loader.keep(url, of: feed, isPrivate: isPrivate)
  }

  /// The known facts about these images, from earlier decoding: see ``ImageCache/facts(for:)``.
  public func facts(for urls: [URL]) -> AnyPublisher<[URL: ImageFacts], FeedStoreError> { cache.facts(for: urls) }

  /// The pixels of an image, scaled down (never up) to fit into `size`.
  ///
  /// **Demand, cancellation, failure:** as in ``data(for:of:isPrivate:width:)``. Finishes when the original is saved.
  public func pixels(
    for url: URL, of feed: URL? = nil, isPrivate: Bool? = nil, fitting size: DecodedImage.Size
  ) -> AnyPublisher<DecodedImage, SizedImageError> {
    loader.data(for: url, of: feed, isPrivate: isPrivate, width: size.width > 0 ? size.width : nil)
      .mapError(SizedImageError.image)
      .flatMap(maxPublishers: .max(1)) { [decoder] image in
        decoder.decode(image.data, fitting: size).mapError(SizedImageError.decoding)
      }
      .eraseToAnyPublisher()
  }

  private func load(
    _ url: URL, of feed: URL?, _ isPrivate: Bool?, _ step: Int, _ key: URL
  ) -> AnyPublisher<LoadedImage, SizedImageError> {
    let small = cache.image(at: key)
    return small.load()
      .map { LoadedImage($0, source: .cache(savedAt: $0.timestamp)) }
      .catch { [self] _ in
        loader.data(for: url, of: feed, isPrivate: isPrivate, width: step).mapError(SizedImageError.image)
          .flatMap(maxPublishers: .max(1)) { [self] original in fit(original, at: url, step, key) }
          .catch { [self] error -> AnyPublisher<LoadedImage, SizedImageError> in
            guard case .image(let reason) = error else { return Fail(error: error).eraseToAnyPublisher() }
            // The store evicts the original before its smaller sizes. If this feed may not load the image, another one may.
            return saved(url, for: reason.isRefusal ? [step] : Self.ladder, nearest: step)
              .map { saved, isSmaller in
                let source = LoadedImage.Source.stale(savedAt: saved.timestamp, reason: reason.remote)
                return LoadedImage(saved.value.data, source: source, isReduced: isSmaller)
              }
              .setFailureType(to: SizedImageError.self)
              .switchIfEmpty(Fail(error: error))
              .eraseToAnyPublisher()
          }
      }
      .eraseToAnyPublisher()
  }

  /// The saved image in this size, whatever its age, or else in the next larger one, or in the largest smaller one.
  private func saved(
    _ url: URL, for widths: [Int], nearest step: Int
  ) -> some Publisher<(Saved<FetchedImage>, isSmaller: Bool), Never> {
    (widths.filter { $0 >= step } + widths.filter { $0 < step }.reversed()).publisher
      .flatMap(maxPublishers: .max(1)) { [cache] width in
        let image = Self.key(url, width: width).map { cache.image(at: $0).retrieve() }
        return (image ?? Empty().eraseToAnyPublisher())
          .map { ($0, isSmaller: width < step) }
          .catch { _ in Empty<(Saved<FetchedImage>, isSmaller: Bool), Never>() }
      }
      .first()
  }

  /// The resized original, unless it exists already.
  func fit(
    _ original: LoadedImage, at url: URL, _ step: Int, _ key: URL
  ) -> AnyPublisher<LoadedImage, SizedImageError> {
    let digest = BodyDigest(original.data.bytes)
    if let finding = findings[key] ?? findings[url], finding.digest == digest {
      guard let error = finding.error else { return Self.just(original) }
      return Fail(error: .decoding(error)).eraseToAnyPublisher()
    }
    let small = cache.image(at: key)
    return small.retrieve()
      .filter { $0.validators.etag == digest.tag }
      .map { $0.value.data }
      .catch { _ in Empty<ImageData, Never>() }
      .setFailureType(to: ImageDecodingError.self)
      .switchIfEmpty(Deferred { [self] in make(original, at: url, step, key, digest) })
      .map { LoadedImage($0, source: original.source, isReduced: original.isReduced) }
      .mapError(SizedImageError.decoding)
      .flatMap(maxPublishers: .max(1)) { [self] image in
        image.data == original.data ? Self.just(image) : keep(image, from: url, key, digest)
      }
      .eraseToAnyPublisher()
  }

  static func just<Output>(_ value: Output) -> AnyPublisher<Output, SizedImageError> {
    Just(value).setFailureType(to: SizedImageError.self).eraseToAnyPublisher()
  }

  /// A smaller image, or the original if that is better.
  private func make(
    _ loaded: LoadedImage, at url: URL, _ step: Int, _ key: URL, _ digest: BodyDigest
  ) -> AnyPublisher<ImageData, ImageDecodingError> {
    let original = loaded.data
    return decoder.decode(original, fitting: DecodedImage.Size(width: step, height: 0), as: .web)
      .map { [self] decoded -> ImageData in
        made += 1
        let facts = ImageFacts(decoded, of: original)
        if !loaded.isReduced { learn(facts, of: url) }
        let isSmaller = decoded.size != decoded.originalSize && decoded.bytes.count < original.bytes.count
        let isStill = facts.isAnimated && step < Self.ladder.last ?? 0
        guard isSmaller || isStill || !original.kind.isForBrowsers,
          let small = try? ImageData(Data(decoded.bytes))
        else {
          note(Finding(digest: digest, error: nil), for: key)
          return original
        }
        return small
      }
      .catch { [self] error -> Result<ImageData, ImageDecodingError>.Publisher in
        var isUnsupported = false
        if case .unsupported = error { isUnsupported = true }
        if original.kind.isForBrowsers, isUnsupported || error.isTemporary { return .init(.success(original)) }
        if !error.isTemporary { note(Finding(digest: digest, error: error), for: url) }
        return .init(.failure(error))
      }
      .eraseToAnyPublisher()
  }

  /// Saves a smaller image with its original's lifetime, and delivers it; the completion waits for the save.
  private func keep(
    _ image: LoadedImage, from url: URL, _ key: URL, _ digest: BodyDigest
  ) -> AnyPublisher<LoadedImage, SizedImageError> {
    cache.image(at: url).retrieve()
      .filter { BodyDigest($0.value.data.bytes) == digest }
      .map { Optional($0) }
      .catch { [report] error in
        report(error)
        return Empty<Saved<FetchedImage>?, Never>()
      }
      .replaceEmpty(with: nil)
      .setFailureType(to: SizedImageError.self)
      .flatMap(maxPublishers: .max(1)) { [self] original -> AnyPublisher<LoadedImage, SizedImageError> in
        guard let original else { return Self.just(image) }
        let fetched = FetchedImage(image.data, lifetime: original.value.lifetime)
        let validators = FeedValidators(etag: digest.tag)
        let save = cache.image(at: key).saving(Saved(fetched, timestamp: original.timestamp, validators: validators))
          .compactMap { _ -> LoadedImage? in nil }
          .catch { [report] error in
            report(error)
            return Empty<LoadedImage, Never>()
          }
        return Just(image).append(save).setFailureType(to: SizedImageError.self).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  private func learn(_ facts: ImageFacts, of url: URL) {
    cache.note(facts, for: url)
    onFacts(url, facts)
  }

  private func note(_ finding: Finding, for key: URL) {
    // Enough for the images of a long page. A dropped finding is determined again.
    if findings.count >= 10_000 { findings.removeAll() }
    findings[key] = finding
  }
}

extension BodyDigest {
  /// The value for the `ETag` field.
  fileprivate var tag: String { "\"\(text)\"" }
}
