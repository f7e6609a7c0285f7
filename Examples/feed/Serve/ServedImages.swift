import FeedHTTPServer
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Passes images from their servers to the page through the cache, so that servers don't see who visits the page, and
/// the page works offline.
final class ServedImages {
  struct Image {
    enum Body {
      case bytes(Chunk)
      case file(ImageFiles.Part)
    }

    let body: Body
    let type: String
    let tag: String
    /// True if the next request may get more of the image: the end is missing, or a smaller copy is sent because the
    /// original can't be loaded.
    let isPart: Bool
  }

  /// The reason why there is no image.
  struct Problem: Error {
    let status: HTTPStatus
    let reason: String
  }

  private let loader: SizedImageLoader
  private let files: ImageFiles
  /// The number of image requests, by result.
  private(set) var fromServers = 0
  private(set) var fromCache = 0
  private(set) var failures = 0
  /// The running loads of originals that are to be kept.
  private var keeping: [URL: AnyCancellable] = [:]

  init(_ loader: SizedImageLoader, _ files: ImageFiles) {
    self.loader = loader
    self.files = files
  }

  /// Passes the facts about each decoded image to the gallery.
  func teach(_ gallery: Gallery) { loader.onFacts = { [unowned gallery] in gallery.learn($1, of: $0) } }

  /// See ``SizedImageLoader/made``.
  var made: Int { loader.made }

  /// The image at `url`, if browsers can show it, judging by its first bytes instead of the declared type.
  ///
  /// - Parameters:
  ///   - feeds: the feeds that list the image; it is enough if one of them may load it.
  ///   - width: the width in pixels; `nil` for the original.
  func image(at url: URL, of feeds: [Gallery.Named.Lister], width: Int?) -> AnyPublisher<Image, Problem> {
    first(of: feeds[...]) { [loader] feed in
      loader.data(for: url, of: feed?.address, isPrivate: feed?.isPrivate, width: width)
    }
    .handleEvents(
      receiveOutput: { [unowned self] image in
        if image.source == .remote || image.source == .part { fromServers += 1 } else { fromCache += 1 }
      },
      receiveCompletion: { [unowned self] completion in if case .failure = completion { failures += 1 } }
    )
    .mapError { Problem($0) }
    .map { Optional($0) }
    // `nil` represents the completion, which arrives after the image is saved. A large image is sent from its file.
    .append(nil)
    .scan((image: nil as LoadedImage?, isSaved: false)) { ($1 ?? $0.image, $1 == nil) }
    .first { $0.isSaved || $0.image.map { $0.data.bytes.count <= ImageFiles.least } ?? false }
    .compactMap(\.image)
    .flatMap { [self] image in shown(image, at: url) }
    .eraseToAnyPublisher()
  }

  /// Loads and saves an image before anyone opens it. This doesn't count as a request for the image.
  ///
  /// Delivers the number of bytes. Fails if the image is cut off.
  func ahead(_ image: Gallery.Named, within room: Int) -> AnyPublisher<Int, SizedImageError> {
    first(of: image.namers[...]) { [loader] feed -> AnyPublisher<SizedImageLoader.Ahead, SizedImageError> in
      guard let feed else { return Empty().eraseToAnyPublisher() }
      return loader.ahead(image.url, of: feed.address, isPrivate: feed.isPrivate, within: room)
    }
    .map(\.bytes).eraseToAnyPublisher()
  }

  /// The pixels of an image, fitted into a box, once the image is saved.
  func pixels(of image: Gallery.Named, fitting size: DecodedImage.Size) -> AnyPublisher<DecodedImage, Problem> {
    let feed = image.namers.first
    return loader.pixels(for: image.url, of: feed?.address, isPrivate: feed?.isPrivate, fitting: size)
      .mapError { Problem($0) }.collect().compactMap(\.last).eraseToAnyPublisher()
  }

  /// Passes the known facts about these images to the gallery.
  func tell(_ gallery: Gallery, of urls: [URL]) -> AnyPublisher<Void, Never> {
    guard !urls.isEmpty else { return Just(()).eraseToAnyPublisher() }
    return loader.facts(for: urls)
      // Without the facts, the page still works.
      .replaceError(with: [:])
      .map { found in for (url, facts) in found { gallery.learn(facts, of: url) } }
      .eraseToAnyPublisher()
  }

  /// Loads and saves the original of a starred image.
  ///
  /// - Parameter report: receives the failure.
  func keep(_ image: Gallery.Named, reportingTo report: @escaping (String) -> Void) {
    let (url, feed) = (image.url, image.namers.first)
    keeping[url] = loader.keep(url, of: feed?.address, isPrivate: feed?.isPrivate)
      .sink { [unowned self] completion in
        keeping[url] = nil
        if case .failure(let error) = completion {
          report("The starred image \(url.shown) couldn't be saved: \(error)")
        }
      } receiveValue: { _ in
      }
  }

  /// Loads an image for the first of these feeds that may load it.
  private func first<Output>(
    of feeds: ArraySlice<Gallery.Named.Lister>,
    _ load: @escaping (Gallery.Named.Lister?) -> AnyPublisher<Output, SizedImageError>
  ) -> AnyPublisher<Output, SizedImageError> {
    let loaded = load(feeds.first)
    guard feeds.count > 1 else { return loaded }
    return loaded.catch { [self] error in
      guard case .image(let reason) = error, reason.isRefusal else {
        return Fail<Output, SizedImageError>(error: error).eraseToAnyPublisher()
      }
      return first(of: feeds.dropFirst(), load)
    }
    .eraseToAnyPublisher()
  }

  private func shown(_ loaded: LoadedImage, at url: URL) -> AnyPublisher<Image, Problem> {
    var isPart = loaded.source == .part
    if loaded.isReduced, case .stale = loaded.source { isPart = true }
    let image = loaded.data
    let type = image.kind.type
    guard image.kind.isForBrowsers else {
      let reason = "Browsers can't show \(image.kind.rawValue) images."
      return Fail(error: Problem(status: .badGateway, reason: reason)).eraseToAnyPublisher()
    }
    let tag = BodyDigest(image.bytes).text
    func held() -> Image { Image(body: .bytes(Chunk(image.bytes)), type: type, tag: tag, isPart: isPart) }
    guard image.bytes.count > ImageFiles.least else {
      return Just(held()).setFailureType(to: Problem.self).eraseToAnyPublisher()
    }
    return files.part(of: image, tag: tag, at: url)
      .map { $0.map { Image(body: .file($0), type: type, tag: tag, isPart: isPart) } ?? held() }
      .setFailureType(to: Problem.self).eraseToAnyPublisher()
  }
}

extension ServedImages.Problem {
  init(_ error: SizedImageError) {
    reason = (Self.unreachable(error) ?? "\(error)").printable(limit: 300)
    if case .decoding(let error) = error, error.isTemporary {
      status = .serviceUnavailable
    } else {
      status = .badGateway
    }
  }

  /// A short text for an unreachable host, because every image of the host has it. The health page gives the
  /// cause.
  private static func unreachable(_ error: SizedImageError) -> String? {
    guard case .image(let reason) = error, reason.cache == nil, case .connectivity(let cause) = reason.remote
    else { return nil }
    return switch cause.kind {
    case .connect, .nameResolution: "\(cause.host) is unreachable, and this image isn't saved."
    default: nil
    }
  }
}
