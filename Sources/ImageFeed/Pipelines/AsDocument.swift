public import FeedStream

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
    default: .failure(.invalidData(.status(status)))
    }
  }
}
