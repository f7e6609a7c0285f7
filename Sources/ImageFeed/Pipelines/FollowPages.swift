public import FeedFormats
public import FeedStream
public import Foundation

extension Publisher where Failure == RemoteFeedError {
  /// Follows a document that is a web page and links to one feed: delivers the values of that feed instead.
  ///
  /// If the feed's URL leads to a web page, too, that page is not followed. **Demand:** passes through. **Failure:**
  /// the failure of upstream or of `feed`, and ``InvalidData/severalFeeds(_:)`` for a page that links to more than one
  /// feed.
  /// **Cancellation:** cancels the running request.
  ///
  /// - Parameters:
  ///   - report: receives the feed that is followed.
  ///   - feed: the values of the feed at a URL.
  public func followingPages<Value, P: Publisher>(
    reportingTo report: @escaping (FeedLink) -> Void, _ feed: @escaping (URL) -> P
  ) -> some Publisher<Fetched<Value>, RemoteFeedError>
  where Output == Fetched<Value>, P.Output == Fetched<Value>, P.Failure == RemoteFeedError {
    self.catch { error -> AnyPublisher<Fetched<Value>, RemoteFeedError> in
      guard case .invalidData(.pageOfFeed(let link)) = error, let url = URL(string: link.address) else {
        return Fail(error: error).eraseToAnyPublisher()
      }
      report(link)
      return feed(url)
        .map { Fetched($0.value, validators: $0.validators.given(by: url)) }
        .mapError { error in
          if case .unchanged(let validators) = error { .unchanged(validators.given(by: url)) } else { error }
        }
        .eraseToAnyPublisher()
    }
  }
}

extension FeedValidators {
  fileprivate func given(by url: URL) -> FeedValidators {
    var validators = self
    validators.source = url
    return validators
  }
}
