package import FeedStream
package import Foundation

/// Observes the requests and responses of a feed.
package protocol FeedExchangeObserver: AnyObject {
  /// Called when a request is about to be sent.
  func requested(_ request: HTTPRequest)
  /// Called when the head of a response has arrived.
  func responded(_ response: StreamingResponse)
}

/// The requests for one feed, and the steps from a response to its images: the part of a load that a poll shares.
package struct FeedRequests {
  /// The URL under which the feed is saved.
  private let address: URL
  /// The requested URL.
  package let url: URL
  private let client: any HTTPClient
  private let scheduler: any LoopScheduler
  private let options: FeedLoader.Options
  /// The URL of the page that led to the feed; `nil` if the user named the feed.
  package var origin: URL?
  package weak var observer: (any FeedExchangeObserver)?
  /// Receives the images on the thread pool, right after they are read.
  package var onRead: (@Sendable (FeedImages) -> Void)?

  /// - Parameters:
  ///   - address: the URL under which the feed is saved.
  ///   - url: the requested URL, if it isn't `address`.
  package init(
    of address: URL, at url: URL? = nil, client: any HTTPClient, on scheduler: any LoopScheduler,
    options: FeedLoader.Options
  ) {
    self.address = address
    self.url = url ?? address
    self.client = client
    self.scheduler = scheduler
    self.options = options
  }

  /// The images at a URL.
  ///
  /// - Parameters:
  ///   - known: the validators to send; if there are none, the request is unconditional.
  ///   - isPrivate: true if the page or the redirect that led to the URL came from a private network; `nil` if that is
  ///     unknown.
  ///   - response: the response, if the request has already been sent.
  package func images(
    at url: URL, since known: FeedValidators, namedBy isPrivate: Bool? = nil,
    from response: Result<StreamingResponse, HTTPError>? = nil
  ) -> some Publisher<Fetched<FeedImages>, RemoteFeedError> {
    (response?.publisher.eraseToAnyPublisher() ?? open(request(at: url, since: known, namedBy: isPrivate)))
      .asDocument()
      .map(identified)
      .mapFeed(options.formats, within: options.limits, unless: known.digest, on: scheduler) {
        [address, onRead, book = options.pageImages] images in
        let images = book?.completing(images, of: address) ?? images.withoutImageless
        onRead?(images)
        return images
      }
  }

  /// The images of one document, requested unconditionally.
  ///
  /// - Parameters:
  ///   - isPrivate: true if the page that links to the URL came from a private network; `nil` if that is unknown.
  ///   - isFirst: false for a later page of the feed, whose items' pages aren't searched for images.
  func images(
    at url: URL, namedBy isPrivate: Bool?, isFirst: Bool
  ) -> some Publisher<Fetched<FeedImages>, RemoteFeedError> {
    open(request(at: url, namedBy: isPrivate))
      .asDocument()
      .map(identified)
      .mapFeed(options.formats, within: options.limits, unless: nil, on: scheduler) {
        [address, book = options.pageImages] images in
        guard let book else { return images.withoutImageless }
        return isFirst ? book.completing(images, of: address) : book.filling(images, of: address)
      }
  }

  /// The document, whose images get the same ids in each load, even if the feed redirects to a different URL each time.
  private func identified(_ document: ArrivingDocument) -> ArrivingDocument {
    var document = document
    document.feed = address
    return document
  }

  /// The request with validators; `nil` if they belong to a different URL.
  ///
  /// - Parameter isPrivate: true if the redirect that led to the URL came from a private network.
  package func conditionalRequest(since known: FeedValidators, namedBy isPrivate: Bool?) -> HTTPRequest? {
    let request = request(at: url, since: known, namedBy: isPrivate)
    return request.headers.isEmpty ? nil : request
  }

  private func request(
    at url: URL, since known: FeedValidators = FeedValidators(), namedBy isPrivate: Bool?
  ) -> HTTPRequest {
    var request = HTTPRequest(
      url, timeout: options.timeout, maxBodyBytes: options.maxBodyBytes,
      headers: url == known.source ?? self.url ? known.conditions : [])
    // This URL came from a page, a document or a redirect, so by itself, it must neither give access to a private
    // network nor cause credentials to be sent.
    if url != address {
      (request.origin, request.originIsPrivate) = (address, isPrivate)
      if !url.hasSameOrigin(as: address) { request.url = url.withoutUser }
    } else {
      request.origin = origin
    }
    return request
  }

  private func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    guard let observer else { return client.open(request) }
    observer.requested(request)
    return client.open(request).handleEvents(receiveOutput: { observer.responded($0) }).eraseToAnyPublisher()
  }
}
