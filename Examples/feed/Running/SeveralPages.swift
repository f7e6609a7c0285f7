import FeedStream
import ImageFeed

extension FeedLoader {
  /// Up to `count` pages as one feed. If a page can't be loaded, delivers the pages before it, with a warning.
  ///
  /// **Failure:** the first page's error.
  func pages(upTo count: Int, on session: Session) -> AnyPublisher<Feed, FeedError> {
    let worker = SerialWorker(on: session.loop)
    return Deferred {
      var arrived = 0
      return pages()
        .prefix(count)
        .handleEvents(receiveOutput: { _ in arrived += 1 })
        .catch { error -> AnyPublisher<Feed, FeedError> in
          guard arrived > 0 else { return Fail(error: error).eraseToAnyPublisher() }
          session.console.warn("Page \(arrived + 1) is not shown. \(error)")
          return Empty().eraseToAnyPublisher()
        }
        .collect()
    }
    .flatMap { pages in
      worker.publisher {
        // The last page may be cut off.
        Feed(FeedImages(joining: pages.map(\.images)), source: pages.last?.source ?? .remote)
      }
    }
    .eraseToAnyPublisher()
  }
}
