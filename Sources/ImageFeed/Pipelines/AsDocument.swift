public import FeedStream
import Foundation

extension Publisher where Output == StreamingResponse, Failure == HTTPError {
  /// Maps each response, based on its status, to a document whose bytes are still arriving, or fails with the reason
  /// why there is none.
  ///
  /// Status 200 is a changed document. **Demand:** passes through. **Failure:** ``RemoteFeedError``: the reason why no
  /// response arrived, ``RemoteFeedError/unchanged(_:)`` for status 304, or ``RemoteFeedError/invalidData(_:)`` for any
  /// other status. The body of such a response is not read, except for the first 16 KiB of one that may be a challenge
  /// (``InvalidData/challenge(_:)``). **Cancellation:** passes through.
  public func asDocument() -> some Publisher<ArrivingDocument, RemoteFeedError> {
    mapError(RemoteFeedError.connectivity)
      .flatMap(maxPublishers: .max(1)) { $0.document }
  }
}

extension Publisher where Output == HTTPResponse, Failure == HTTPError {
  /// Maps each response, based on its status, to a document, or fails with the reason why there is none.
  ///
  /// Status 200 is a changed document. **Demand:** passes through. **Failure:** ``RemoteFeedError``: the reason why no
  /// response arrived, ``RemoteFeedError/unchanged(_:)`` for status 304, or ``RemoteFeedError/invalidData(_:)`` for any
  /// other status.
  /// **Cancellation:** passes through.
  public func asDocument() -> some Publisher<WebDocument, RemoteFeedError> {
    mapError(RemoteFeedError.connectivity)
      .flatMap(maxPublishers: .max(1)) { Result.Publisher($0.document) }
  }
}

extension StreamingResponse {
  fileprivate var document: AnyPublisher<ArrivingDocument, RemoteFeedError> {
    guard let error = refusal(status, headers) else {
      var document = ArrivingDocument(
        type: headers["Content-Type"], url: url, validators: FeedValidators(headers),
        body: body.mapError(RemoteFeedError.connectivity).eraseToAnyPublisher())
      document.isFromPrivateNetwork = isPrivate
      return Just(document).setFailureType(to: RemoteFeedError.self).eraseToAnyPublisher()
    }
    guard ChallengePage.isPossible(status, headers) else { return Fail(error: error).eraseToAnyPublisher() }
    return body.prefix(bytes: ChallengePage.prefix)
      .reduce(into: Data()) { $0.append(contentsOf: $1) }
      .replaceError(with: Data())
      .setFailureType(to: RemoteFeedError.self)
      .flatMap { page in
        Fail(error: ChallengePage.isChallenge(page) ? .invalidData(.challenge(status)) : error)
      }
      .eraseToAnyPublisher()
  }
}

extension HTTPResponse {
  fileprivate var document: Result<WebDocument, RemoteFeedError> {
    if let error = refusal(status, headers) {
      let isChallenge = ChallengePage.isPossible(status, headers) && ChallengePage.isChallenge(body)
      return .failure(isChallenge ? .invalidData(.challenge(status)) : error)
    }
    var document = WebDocument(
      body: body, type: headers["Content-Type"], url: url, validators: FeedValidators(headers))
    document.isFromPrivateNetwork = isPrivate
    return .success(document)
  }
}

/// The reason why a response with this head has no document; `nil` if it has one.
private func refusal(_ status: Int, _ headers: HTTPHeaders) -> RemoteFeedError? {
  switch status {
  case 200: nil
  case 304: .unchanged(FeedValidators(headers))
  case _ where ChallengePage.isAnnounced(in: headers): .invalidData(.challenge(status))
  default: .invalidData(.status(status))
  }
}
