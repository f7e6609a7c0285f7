public import FeedStream
public import Foundation

/// A response with status 200, while its body arrives.
public struct ArrivingDocument {
  /// The value of `Content-Type`, unchanged.
  public var type: String?
  /// The document's URL after redirects.
  public var url: URL
  /// The validators by which the server can tell whether the document has changed.
  public var validators: FeedValidators
  /// See ``WebDocument/feed``.
  public var feed: URL?
  /// True if the document comes from a private network, false if it does not; `nil` if that is unknown.
  package var isFromPrivateNetwork: Bool?
  /// The body, decompressed: see `StreamingResponse.body`.
  public var body: AnyPublisher<Chunk, RemoteFeedError>

  public init(
    type: String? = nil, url: URL, validators: FeedValidators = FeedValidators(),
    body: AnyPublisher<Chunk, RemoteFeedError>
  ) {
    self.type = type
    self.url = url
    self.validators = validators
    self.body = body
  }

  /// A document that is already complete.
  public init(_ document: WebDocument) {
    let body = document.body.isEmpty ? [] : [document.body.withUnsafeBytes { Chunk(copying: $0) }]
    self.init(
      type: document.type, url: document.url, validators: document.validators,
      body: body.publisher.setFailureType(to: RemoteFeedError.self).eraseToAnyPublisher())
    feed = document.feed
    isFromPrivateNetwork = document.isFromPrivateNetwork
  }
}
