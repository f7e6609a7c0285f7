public import FeedStream
public import Foundation

/// Loads the data of images from memory, from the disk, or else from their servers.
///
///     let loader = ImageLoader(client: client, cache: ImageCache(store: DiskImageStore(folder: "images"), on: loop))
///     let subscription = loader.data(for: url).sink(receiveCompletion: { print($0) }, receiveValue: { print($0.data.kind) })
///
/// Use the loader only on its scheduler's thread, like a stream.
public final class ImageLoader {
  /// Options; each has a default.
  public struct Options: Sendable {
    /// The time limit for a request. 30 seconds by default.
    public var timeout: Duration = .seconds(30)
    /// The maximum size of an image, in bytes. 20 MiB by default.
    public var maxBytes = 20 << 20
    /// The time for which an image is shown without another request, if its server doesn't set one. Seven days by
    /// default.
    public var lifetime: Duration = .seconds(604_800)
    /// The time for which an image isn't requested again after its server responded without an image. One minute by
    /// default.
    public var errorLifetime: Duration = .seconds(60)

    public init() {}
  }

  private let client: any HTTPClient
  private let cache: ImageCache
  private let options: Options
  private let report: (FeedStoreError) -> Void
  private let flights = Flights<ImageWish, LoadedImage, ImageError>()
  private var refusals: [URL: (error: ImageError, date: Date)] = [:]

  /// - Parameter report: receives the error of a failed save; the image is still shown. Does nothing by default.
  public init(
    client: any HTTPClient, cache: ImageCache, options: Options = Options(),
    reportingTo report: @escaping (FeedStoreError) -> Void = { _ in }
  ) {
    self.client = client
    self.cache = cache
    self.options = options
    self.report = report
  }

  /// The image at a URL: the saved one, or else the server's, which is then saved.
  ///
  /// A request for an image that is already being loaded shares that load. An image whose lifetime has passed is
  /// requested again with its validators, and is still shown if its server can't be reached or sends no image; so is a
  /// smaller copy that is saved in place of an image (``LoadedImage/isReduced``). If an image is cut off and none is
  /// saved, the part is delivered (``LoadedImage/Source/part``), but not saved; ``ImageDecoder`` refuses it unless its
  /// first frame is whole. If a server responded without an image, that image isn't requested again for a while
  /// (``Options/errorLifetime``). **Demand:** the image is held until requested. **Failure:** ``ImageError`` if there is
  /// nothing to show; nothing is saved in that case. **Cancellation:** closes the request if no other subscriber waits
  /// for it; a save that was requested is completed.
  ///
  /// - Parameters:
  ///   - url: the image's URL.
  ///   - feed: the feed that lists it. If the feed didn't come from a private network, the image isn't loaded from one
  ///     either (`HTTPRequest.origin`). `nil` if the user chose the URL.
  ///   - isPrivate: the feed's ``FeedImages/isFromPrivateNetwork``.
  ///   - width: the width in pixels that is needed. A smaller copy that is saved in place of the original, and is at
  ///     least that wide, is treated as the original would be; others are delivered only if the original can't be loaded.
  ///     `nil` if only the original will do.
  public func data(
    for url: URL, of feed: URL? = nil, isPrivate: Bool? = nil, width: Int? = nil
  ) -> AnyPublisher<LoadedImage, ImageError> {
    let wish = ImageWish(url: url, feed: feed, isPrivate: isPrivate)
    guard let width else { return data(for: wish) }
    return cache.image(at: url).retrieve()
      .map { $0.value.reducedWidth != nil && $0.value.suffices(for: width) }
      .replaceError(with: false)
      .replaceEmpty(with: false)
      .setFailureType(to: ImageError.self)
      .flatMap(maxPublishers: .max(1)) { [self] isEnough in
        var wish = wish
        wish.acceptsCopy = isEnough
        return data(for: wish)
      }
      .eraseToAnyPublisher()
  }

  private func data(for wish: ImageWish) -> AnyPublisher<LoadedImage, ImageError> {
    Deferred { [self] () -> AnyPublisher<LoadedImage, ImageError> in
      if let refusal = refusal(of: wish.url) { return Fail(error: refusal).eraseToAnyPublisher() }
      return flights.join(wish) { [self] in
        load(wish).handleEvents(receiveCompletion: { [self] completion in
          if case .failure(let error) = completion { remember(error, for: wish.url) }
        })
        .eraseToAnyPublisher()
      }
    }
    .eraseToAnyPublisher()
  }

  /// Loads the image at a URL as ``data(for:of:isPrivate:width:)`` does, and saves it even if it was only in memory.
  ///
  /// Use this for an image that must be kept, after it has become one of the images that the store keeps: see
  /// ``DiskImageStore/init(folder:limit:busyTimeout:keeping:)``. **Demand, cancellation:** as in
  /// ``data(for:of:isPrivate:width:)``. **Failure:** as there, ``InvalidImage/cutOff(_:)`` for an image that is cut off,
  /// and the reason why the original can't be loaded if only a smaller copy is saved. A failed save is reported.
  public func keep(_ url: URL, of feed: URL? = nil, isPrivate: Bool? = nil) -> AnyPublisher<LoadedImage, ImageError> {
    let (local, report) = (cache.image(at: url), report)
    let saving = Deferred { local.retrieve().flatMap(maxPublishers: .max(1)) { local.saving($0) } }
      .compactMap { _ in LoadedImage?.none }
      .catch { error -> Empty<LoadedImage, Never> in
        report(error)
        return Empty()
      }
      .setFailureType(to: ImageError.self)
    return data(for: url, of: feed, isPrivate: isPrivate).whole().original().append(saving).eraseToAnyPublisher()
  }

  private func load(_ wish: ImageWish) -> AnyPublisher<LoadedImage, ImageError> {
    let saved = cache.image(at: wish.url)
    return saved.load(width: wish.width)
      .fallback(to: remote(wish, saved: saved).caching(to: saved, reportingTo: report))
      .fallback(to: saved.load(ageless: true))
      .catch { error -> Result<LoadedImage, ImageError>.Publisher in
        if case .invalidData(.cutOff(let part)) = error.remote { return .init(LoadedImage(part, source: .part)) }
        return .init(.failure(error))
      }
      .eraseToAnyPublisher()
  }

  /// The server's image, requested with the validators of the saved one if that will do. If the server states a new
  /// lifetime for the saved image, that image with the new lifetime.
  private func remote(
    _ wish: ImageWish, saved: LocalImage
  ) -> some Publisher<Fetched<FetchedImage>, RemoteImageError> {
    saved.retrieve()
      .map { $0.value.suffices(for: wish.width) ? $0 : nil }
      .replaceError(with: nil)
      .replaceEmpty(with: nil)
      .setFailureType(to: RemoteImageError.self)
      .flatMap(maxPublishers: .max(1)) { [client, options, cache, now = cache.now] known in
        var request = HTTPRequest(
          wish.feed == nil ? wish.url : wish.url.withoutUser, timeout: .init(options.timeout),
          maxBodyBytes: options.maxBytes,
          headers: known?.validators.conditions ?? [])
        (request.origin, request.originIsPrivate) = (wish.feed, wish.isPrivate)
        return client.get(request).asImage(lifetime: options.lifetime, now: now)
          .catch { error -> AnyPublisher<Fetched<FetchedImage>, RemoteImageError> in
            guard let known, known.value.reducedWidth != nil else {
              return Result.Publisher(error.renewal(of: known)).eraseToAnyPublisher()
            }
            // The original may have been saved meanwhile, by another process, too.
            cache.memory.remove(saved.url)
            return saved.retrieve()
              .map { $0.validators == known.validators ? $0 : nil }
              .replaceError(with: nil)
              .replaceEmpty(with: nil)
              .flatMap(maxPublishers: .max(1)) { Result.Publisher(error.renewal(of: $0)) }
              .eraseToAnyPublisher()
          }
      }
  }

  private func refusal(of url: URL) -> ImageError? {
    guard let refusal = refusals[url] else { return nil }
    if isRecent(refusal.date) { return refusal.error }
    refusals[url] = nil
    return nil
  }

  /// True if a response isn't too old, or too far in the future, where it is after the clock was set back.
  private func isRecent(_ date: Date) -> Bool {
    abs(cache.now().timeIntervalSince(date)) < options.errorLifetime / .seconds(1)
  }

  /// Remembers a server's response. An unreachable server isn't remembered, because it may be reachable again at any
  /// time.
  private func remember(_ error: ImageError, for url: URL) {
    guard case .invalidData = error.remote, options.errorLifetime > .zero else { return }
    // Enough for the images on a screen. Above that, expired entries are dropped first, and then all.
    if refusals.count >= 1000 { refusals = refusals.filter { isRecent($0.value.date) } }
    if refusals.count >= 1000 { refusals.removeAll() }
    refusals[url] = (error, cache.now())
  }
}

/// An image to load, and where its URL comes from.
struct ImageWish: Hashable {
  let url: URL
  /// The feed that lists the image; `nil` if the user chose the URL.
  let feed: URL?
  /// The feed's ``FeedImages/isFromPrivateNetwork``.
  let isPrivate: Bool?
  /// True if the smaller copy that is saved in place of the original will do.
  var acceptsCopy = false

  /// The width that a copy must have; `nil` if only the original will do.
  fileprivate var width: Int? { acceptsCopy ? 0 : nil }
}

extension RemoteImageError {
  /// The saved image with its new lifetime, if the server confirmed the image and stated one (RFC 9111, section 4.3.4).
  fileprivate func renewal(of saved: Saved<FetchedImage>?) -> Result<Fetched<FetchedImage>, RemoteImageError> {
    guard case .unchanged(let news, let lifetime?) = self, let saved, !saved.validators.isEmpty else {
      return .failure(self)
    }
    var image = saved.value
    image.lifetime = lifetime
    return .success(Fetched(image, validators: saved.validators.updated(by: news)))
  }
}
