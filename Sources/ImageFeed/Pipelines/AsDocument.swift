public import FeedStream
import Foundation

extension Publisher where Output == HTTPResponse, Failure == HTTPError {
  /// Maps each response to a document by its status, or fails with the reason why there is none.
  ///
  /// Status 200 is a changed document. **Demand:** passes through. **Failure:** ``RemoteFeedError``: the reason why no
  /// response arrived, ``RemoteFeedError/unchanged(_:)`` for status 304, and any other status as invalid data.
  /// **Cancellation:** passes through.
  public func asDocument() -> some Publisher<WebDocument, RemoteFeedError> {
    mapError(RemoteFeedError.connectivity)
      .flatMap(maxPublishers: .max(1)) { Result.Publisher($0.document) }
  }
}

extension HTTPResponse {
  fileprivate var document: Result<WebDocument, RemoteFeedError> {
    let validators = FeedValidators(headers)
    return switch status {
    case 200: .success(WebDocument(body: body, type: headers["Content-Type"], url: url, validators: validators))
    case 304: .failure(.unchanged(validators))
    case _ where isChallenge: .failure(.invalidData(.challenge(status)))
    default: .failure(.invalidData(.status(status)))
    }
  }
}

extension HTTPResponse {
  /// True for what the large protectors of servers send to programs that they take for unwelcome robots.
  private var isChallenge: Bool {
    guard [401, 403, 429, 503].contains(status) else { return false }
    if headers["cf-mitigated"]?.lowercased() == "challenge" { return true }
    guard headers["Server"]?.lowercased().contains("cloudflare") == true else { return false }
    let page = body.prefix(16 << 10)
    return ["/cdn-cgi/challenge-platform/", "cf-chl-", "Just a moment..."].contains {
      page.range(of: Data($0.utf8)) != nil
    }
  }
}
