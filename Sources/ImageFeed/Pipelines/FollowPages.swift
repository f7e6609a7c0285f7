public import FeedFormats
public import FeedStream
public import Foundation

extension Publisher where Output == WebDocument, Failure == RemoteFeedError {
  /// Replaces a web page that names one feed with that feed's document; other documents pass unchanged.
  ///
  /// A page that names none passes too: the mapper reports it. The answer from the feed's address is not followed
  /// again. **Demand:** one document at a time. **Failure:** upstream's, the feed's, and
  /// ``InvalidData/severalFeeds(_:)`` for a page that names more than one. **Cancellation:** cancels the running
  /// request.
  ///
  /// - Parameters:
  ///   - scheduler: its thread pool looks for links.
  ///   - report: receives the feed that is followed.
  ///   - document: gets the document at an address.
  public func followingPages<P: Publisher>(
    on scheduler: any LoopScheduler, reportingTo report: @escaping (FeedLink) -> Void,
    document: @escaping (URL) -> P
  ) -> some Publisher<WebDocument, RemoteFeedError> where P.Output == WebDocument, P.Failure == RemoteFeedError {
    let worker = SerialWorker(on: scheduler)
    return flatMap(maxPublishers: .max(1)) { page -> AnyPublisher<WebDocument, RemoteFeedError> in
      guard page.isWebPage else { return Just(page).setFailureType(to: RemoteFeedError.self).eraseToAnyPublisher() }
      return worker.publisher { () throws(RemoteFeedError) in page.feedLinks }
        .flatMap { links -> AnyPublisher<WebDocument, RemoteFeedError> in
          if links.count > 1 {
            return Fail(error: .invalidData(.severalFeeds(links.map(\.address)))).eraseToAnyPublisher()
          }
          guard let link = links.first, let url = URL(string: link.address), url != page.url else {
            return Just(page).setFailureType(to: RemoteFeedError.self).eraseToAnyPublisher()
          }
          report(link)
          return document(url)
            .map { document in
              var document = document
              document.validators.source = url
              return document
            }
            .eraseToAnyPublisher()
        }
        .eraseToAnyPublisher()
    }
  }
}

extension WebDocument {
  /// True for a web page, judged by its first bytes.
  public var isWebPage: Bool { FeedLink.isPage([UInt8](body.prefix(4096))) }

  /// The feeds that a web page names.
  public var feedLinks: [FeedLink] {
    FeedLink.links(inPage: [UInt8](body.prefix(1 << 20)), address: url.absoluteString)
  }
}
