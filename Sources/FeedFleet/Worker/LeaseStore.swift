import FeedStream
import Foundation
import ImageFeed
import Synchronization

/// The store of one poll: it has what the lease says, and notes what is to be completed with it.
///
/// So one poll of a fleet is the poll of one machine, to the letter; only its results go elsewhere.
final class LeaseStore: FeedStore, PollStore {
  private struct Notes {
    var record: PollRecord?
    /// As it is when it was not to be requested after all.
    var postponed: FeedHealth?
    var version: FeedVersion?
    var validators: FeedValidators?
    var images: (bytes: [UInt8], count: Int)?
    /// Of a document that was read.
    var isWhole = false
    var isFromPrivateNetwork: Bool?
  }

  private let lease: WorkLease
  private let notes = Mutex(Notes())

  init(_ lease: WorkLease) { self.lease = lease }

  /// The result of the poll.
  ///
  /// - Returns: `nil` when no request was made.
  func completion(by worker: String, gap: Duration) -> WorkCompletion? {
    notes.withLock { notes in
      var record = lease.record
      guard let poll = notes.record else {
        guard let health = notes.postponed else { return nil }
        record.health = health
        return WorkCompletion(
          lease: lease, worker: worker, outcome: .postponed, record: record, due: health.due,
          host: health.requestAddress.pollingHost, gap: .zero)
      }
      if let validators = notes.validators { record.validators = validators }
      // Each document says again who delivered it; a response that nothing has changed does not.
      if notes.isWhole { record.isFromPrivateNetwork = notes.isFromPrivateNetwork }
      if let images = notes.images {
        record.imageCount = images.count
        record.digest = FeedImages.digest(in: images.bytes)
      }
      record.health = poll.feed
      record.note(poll.decision)
      let isFeed = notes.version != nil
      return WorkCompletion(
        lease: lease, worker: worker,
        outcome: notes.images != nil ? .changed : isFeed ? .unchanged : .failed, record: record,
        version: notes.version, document: notes.images.map { Chunk($0.bytes) }, due: poll.feed.due,
        host: poll.feed.requestAddress.pollingHost, gap: gap, pausedUntil: poll.host.pausedUntil,
        reason: poll.host.reason)
    }
  }

  // MARK: The feed

  /// Without its images: nobody looks at them.
  func retrieve(for address: URL) -> CachedFeed? {
    lease.version.map {
      CachedFeed(images: FeedImages([]), timestamp: $0.date, validators: lease.record.validators)
    }
  }

  func replace(for address: URL, with feed: CachedFeed, now: Date) -> FeedReplacement {
    let bytes = feed.images.bytes
    return notes.withLock { notes in
      notes.version = FeedVersion(feed.timestamp)
      notes.validators = feed.validators
      (notes.isWhole, notes.isFromPrivateNetwork) = (true, feed.images.isFromPrivateNetwork)
      let before = lease.record.isFromPrivateNetwork
      // Gateways have to know when the same images come from elsewhere: what they name is judged by that.
      if let known = lease.record.digest, lease.version != nil, known == FeedImages.digest(in: bytes),
        before == nil || before == feed.images.isFromPrivateNetwork
      {
        return .renewed
      }
      notes.images = (bytes, feed.images.count)
      return .replaced
    }
  }

  func renew(for address: URL, with renewal: FeedRenewal, now: Date) -> FeedReplacement? {
    notes.withLock { notes in
      notes.version = FeedVersion(renewal.timestamp)
      notes.validators = renewal.validators
      return .renewed
    }
  }

  func delete(for address: URL, if condition: FeedDeletionCondition) -> Bool { false }
  func summaries() -> [CachedFeedSummary] { [] }
  func deleteAll() {}

  // MARK: The poll

  func health(of addresses: [URL]) -> [FeedHealth?] { addresses.map { _ in lease.record.health } }
  func health(ofHost name: String) -> HostHealth? { nil }
  func claim(_ claim: PollClaim) -> PollVerdict {
    // The host was claimed of the engine.
    let verdict = claim.decide(lease.record.health, nil, validators).verdict
    if case .notDue(let health) = verdict { notes.withLock { $0.postponed = health } }
    return verdict
  }

  /// The validators of the saved feed; with them a response that nothing has changed needs no reading.
  var validators: FeedValidators { lease.version == nil ? FeedValidators() : lease.record.validators }

  func record(_ record: PollRecord, now: Date) -> Bool {
    if let renewal = record.renewal { _ = renew(for: lease.address, with: renewal, now: now) }
    notes.withLock { $0.record = record }
    return true
  }
  func release(_ host: HostHealth) {}
  func decisions(for address: URL) -> [PollDecision] { lease.record.decisions }
}
