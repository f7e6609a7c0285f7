import FeedHTTP
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Saves the images of loaded feeds, for offline use.
final class ImageSaver {
  /// The number of images that are loaded at the same time.
  fileprivate static let width = 8
  /// The pauses after repeated failures of an image; after the first, it is tried again at the next update.
  private static let pauses = RetryPolicy.exponential(from: .seconds(3_600), cap: .seconds(86_400))

  private struct Wish: Hashable {
    let feed: URL
    let url: URL
    let isPrivate: Bool?
  }

  private typealias Ahead = SizedImageLoader.Ahead

  private var loader: SizedImageLoader!
  private let client: ReachableHostsClient
  private let session: Session
  private var budget: ImageBudget
  /// The number of bytes of each saved image. These aren't saved again, even if they were deleted or evicted.
  private var sizes: [URL: Int] = [:]
  /// The number of failures of each other image, and the time from which it may be requested again.
  private var failures: [URL: (count: Int, until: StreamInstant)] = [:]
  /// The number of loaded images that couldn't be saved.
  private var unsaved = 0
  private var running: AnyCancellable?

  init(for common: CommonOptions, _ budget: ImageBudgetOption, client: any HTTPClient, on session: Session) {
    self.session = session
    self.budget = budget.budget(within: common)
    self.client = ReachableHostsClient(client)
    let images = common.imageStore(in: session)
    loader = SizedImageLoader(images, client: self.client, on: session) { [unowned self] in unsaved += 1 }
    session.keep(AnyCancellable { [self] in running = nil })
  }

  /// Loads and saves the images of the items, within the budget, starting with the first image of each item. Smaller
  /// copies of those that don't fit are saved. Reports failures. Calls back at the end, unless the session ends. Call
  /// this again only after it has called back.
  ///
  /// - Parameter isTold: true to report how many images were saved.
  func save(_ feeds: [(address: URL, images: FeedImages)], isTold: Bool = true, then: @escaping () -> Void) {
    var known: Set<URL> = []
    let firsts = Self.wishes(in: feeds) { [$0.url] }.filter { known.insert($0.url).inserted }
    let others = Self.wishes(in: feeds) { $0.images.lazy.compactMap { URL(string: $0.url) } }
      .filter { known.insert($0.url).inserted }
    let count = firsts.count + others.count
    budget = budget.unspent(for: firsts.lazy.map(\.feed))
    let console = session.console
    var (saved, failed, left, reduced) = (0, 0, 0, 0)
    unsaved = 0
    client.failures = [:]
    // If no image has to be loaded, this save ends here, and `then` may start the next one.
    var isOver = false
    let saving = firsts.publisher
      .append(
        Deferred { [self] in
          budget.expect(others.lazy.map(\.feed))
          return others.publisher
        }
      )
      .flatMap(maxPublishers: .max(Self.width)) { [self] wish in load(wish) }
      .sink { [self] _ in
        console.setStatus("")
        let copies = reduced > 0 ? "; \(reduced) in a smaller size" : ""
        if isTold {
          console.note("Saved \(max(saved - unsaved, reduced)) of \(counted(saved + failed + left, "image"))\(copies)")
        }
        if isTold, left + reduced > 0 {
          let size = ByteCount(budget.perFeed).text
          console.hint(
            "to save more of them whole, raise --images-per-feed (\(size)) or --image-cache-size"
              + (reduced > 0 ? ", and delete the smaller copies with feed cache images clear" : ""))
        }
        isOver = true
        then()
      } receiveValue: { result in
        switch result {
        case .success(let image)?:
          saved += 1
          if image.isReduced { reduced += 1 }
        case .failure?: failed += 1
        case nil: left += 1
        }
        console.setStatus("images: \(saved + failed) of \(count)…")
      }
    if !isOver { running = saving }
  }

  /// Loads and saves an image; `nil` if the budget has no room for it. Delivers nothing for an image that was saved
  /// earlier, or failed a short time ago.
  private func load(_ wish: Wish) -> AnyPublisher<Result<Ahead, SizedImageError>?, Never> {
    guard budget.allows(wish.feed) else {
      budget.spend(0, on: wish.feed)
      return Just(nil).eraseToAnyPublisher()
    }
    if let size = sizes[wish.url] {
      budget.spend(size, on: wish.feed)
      return Empty().eraseToAnyPublisher()
    }
    if let failure = failures[wish.url], session.loop.now < failure.until {
      budget.spend(0, on: wish.feed)
      return Empty().eraseToAnyPublisher()
    }
    let room = budget.room(for: wish.feed)
    return loader.ahead(wish.url, of: wish.feed, isPrivate: wish.isPrivate, within: room)
      .asResult()
      .handleEvents(receiveOutput: { [self] result in
        switch result {
        case .success(let image):
          failures[wish.url] = nil
          sizes[wish.url] = image.bytes
          budget.spend(image.bytes, on: wish.feed)
        case .failure(let error):
          budget.spend(0, on: wish.feed)
          if failures[wish.url] == nil { session.console.warn("\(wish.url.shown): \(error)") }
          pause(wish.url)
        }
      })
      .map { Optional($0) }
      .eraseToAnyPublisher()
  }

  private static func wishes(
    in feeds: [(address: URL, images: FeedImages)], _ urls: (FeedImage) -> some Sequence<URL>
  ) -> [Wish] {
    feeds.flatMap { address, images in
      images.flatMap(urls).map { Wish(feed: address, url: $0, isPrivate: images.isFromPrivateNetwork) }
    }
  }

  /// Sets the time from which an image that failed is requested again.
  private func pause(_ url: URL) {
    let count = failures[url]?.count ?? 0
    var generator = SystemRandomNumberGenerator()
    let pause = count == 0 ? .zero : Self.pauses.pause(before: count - 1, using: &generator)
    failures[url] = (count + 1, session.loop.now.advanced(by: pause))
  }
}

/// A client that stops requesting a host after several failures without a response.
private final class ReachableHostsClient: HTTPClient {
  private let client: any HTTPClient
  /// The number of failures of each host since its last response, and the last error.
  var failures: [String: (count: Int, error: HTTPError)] = [:]
  /// The number of failures after which a host counts as unreachable: as many as there are requests at the same time.
  private static let most = ImageSaver.width

  init(_ client: any HTTPClient) { self.client = client }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    let host = request.url.hostAndPort
    if let failure = failures[host], failure.count >= Self.most {
      return Fail(error: failure.error).eraseToAnyPublisher()
    }
    return client.get(request)
      .handleEvents(
        receiveOutput: { [self] _ in failures[host] = nil },
        receiveCompletion: { [self] completion in
          guard case .failure(let error) = completion, error.hasNoResponse else { return }
          failures[host] = ((failures[host]?.count ?? 0) + 1, error)
        }
      )
      .eraseToAnyPublisher()
  }
}

extension HTTPError {
  /// True if the host couldn't be reached or didn't respond, so that other requests to it would probably fail, too.
  fileprivate var hasNoResponse: Bool {
    switch kind {
    case .nameResolution, .connect, .tls: true
    case .timedOut(let phase): phase != .receive
    default: false
    }
  }
}
