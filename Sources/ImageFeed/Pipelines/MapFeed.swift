public import FeedFormats
public import FeedStream

/// A value from a server, and the values by which the server recognizes whether it has changed.
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

extension Publisher where Output == WebDocument, Failure == RemoteFeedError {
  /// Maps each document to feed images, off the loop, or fails with the error in it.
  ///
  /// **Demand:** one document at a time. **Failure:** ``RemoteFeedError``. **Cancellation:** passes through; decoding
  /// that has begun continues, and its result is dropped.
  ///
  /// - Parameters:
  ///   - formats: what a document may be; the first that recognizes it reads it.
  ///   - limits: how much it may hold.
  ///   - known: the digest of a body that need not be mapped again: it fails as ``RemoteFeedError/unchanged(_:)``.
  ///   - scheduler: whose thread pool decodes: a large feed takes time that the loop cannot spare.
  public func mapFeed(
    _ formats: [any FeedFormat] = .web, within limits: FeedLimits = FeedLimits(),
    unless known: BodyDigest? = nil, on scheduler: any LoopScheduler
  ) -> some Publisher<Fetched<FeedImages>, RemoteFeedError> {
    let worker = SerialWorker(on: scheduler)
    return flatMap(maxPublishers: .max(1)) { document in
      worker.publisher { () throws(RemoteFeedError) in
        var validators = document.validators
        validators.digest = BodyDigest(document.body)
        if known != nil, known == validators.digest { throw .unchanged(validators) }
        do throws(InvalidData) {
          return Fetched(try formats.images(of: document, within: limits), validators: validators)
        } catch {
          throw .invalidData(error)
        }
      }
    }
  }
}
