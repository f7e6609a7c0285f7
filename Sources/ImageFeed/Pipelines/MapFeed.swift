public import FeedFormats
public import FeedStream

/// A value from a server, and the validators by which the server can tell whether the value has changed.
public struct Fetched<Value> {
  public var value: Value
  public var validators: FeedValidators

  public init(_ value: Value, validators: FeedValidators = FeedValidators()) {
    self.value = value
    self.validators = validators
  }
}

extension Fetched: Sendable where Value: Sendable {}
extension Fetched: Equatable where Value: Equatable {}
extension Fetched: Hashable where Value: Hashable {}

extension Publisher where Output == ArrivingDocument, Failure == RemoteFeedError {
  /// Maps each document to feed images while it arrives, off the loop, or fails with the error in it.
  ///
  /// The document is read in pieces (16 KiB at first, and up to 256 KiB later). If it isn't a feed, or is too large,
  /// its transfer ends with the first piece that reveals this. A format without a reader reads the document when it is
  /// complete. The first megabyte of a web page is searched for the feeds that it links to.
  ///
  /// **Demand:** one document at a time, and one piece of its body after the previous one has been read. **Failure:**
  /// ``RemoteFeedError``; for a web page, ``InvalidData/pageOfFeed(_:)``, ``InvalidData/severalFeeds(_:)`` or
  /// ``InvalidData/webPage``. **Cancellation:** closes the transfer; decoding that has begun continues, and its result
  /// is dropped.
  ///
  /// - Parameters:
  ///   - formats: the accepted formats; the first that recognizes a document reads it.
  ///   - limits: the limits of a document.
  ///   - known: the digest of a body that needn't be mapped again; if the body is the same, the publisher fails with
  ///     ``RemoteFeedError/unchanged(_:)``.
  ///   - scheduler: its thread pool decodes, because a large feed would block the loop.
  public func mapFeed(
    _ formats: [any FeedFormat] = .web, within limits: FeedLimits = FeedLimits(),
    unless known: BodyDigest? = nil, on scheduler: any LoopScheduler
  ) -> some Publisher<Fetched<FeedImages>, RemoteFeedError> {
    mapFeed(formats, within: limits, unless: known, on: scheduler) { $0.withoutImageless }
  }

  /// - Parameter complete: changes the images on the thread pool, right after they are read.
  func mapFeed(
    _ formats: [any FeedFormat], within limits: FeedLimits, unless known: BodyDigest?, on scheduler: any LoopScheduler,
    completing complete: @escaping @Sendable (FeedImages) -> FeedImages
  ) -> some Publisher<Fetched<FeedImages>, RemoteFeedError> {
    let worker = SerialWorker(on: scheduler)
    return flatMap(maxPublishers: .max(1)) { document in
      let reading = DocumentReading(of: document, as: formats, within: limits, unless: known)
      return document.body
        .framed(by: PieceDecoder())
        .flatMap(maxPublishers: .max(1)) { piece in
          worker.publisher { () throws(RemoteFeedError) -> Fetched<FeedImages>? in
            try reading.read(piece).map { Fetched(complete($0.value), validators: $0.validators) }
          }
        }
        .compactMap { $0 }
    }
  }
}

extension Publisher where Output == WebDocument, Failure == RemoteFeedError {
  /// Maps each complete document to feed images, off the loop, or fails with the error in it.
  ///
  /// **Demand:** one document at a time. **Failure:** ``RemoteFeedError``, as for an arriving document.
  /// **Cancellation:** passes through; decoding that has begun continues, and its result is dropped.
  ///
  /// - Parameters:
  ///   - formats: the accepted formats; the first that recognizes a document reads it.
  ///   - limits: the limits of a document.
  ///   - known: the digest of a body that needn't be mapped again; if the body is the same, the publisher fails with
  ///     ``RemoteFeedError/unchanged(_:)``.
  ///   - scheduler: its thread pool decodes, because a large feed would block the loop.
  public func mapFeed(
    _ formats: [any FeedFormat] = .web, within limits: FeedLimits = FeedLimits(),
    unless known: BodyDigest? = nil, on scheduler: any LoopScheduler
  ) -> some Publisher<Fetched<FeedImages>, RemoteFeedError> {
    map(ArrivingDocument.init).mapFeed(formats, within: limits, unless: known, on: scheduler)
  }
}
