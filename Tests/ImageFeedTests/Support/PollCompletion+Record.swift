import FeedPolling
import Foundation
import ImageFeed

extension PollCompletion {
  /// The completion of a request after which `record` is saved, whatever the result of saving the feed.
  init(_ record: PollRecord, renewing renewal: FeedRenewal? = nil, now: Date) {
    let lease = PollLease(feed: record.feed, host: record.host.name, saved: FeedValidators(), since: nil)
    self.init(
      of: lease, renewal.map { .renewal($0) }, wasRead: false, pausesHost: record.host.pausedUntil != nil, now: now
    ) { _ in record }
  }
}

extension PollStore {
  func claim(_ claim: PollClaim) throws -> PollVerdict? {
    guard case .verdict(let verdict) = try carryOut([.claim(claim)])[0].get() else { return nil }
    return verdict
  }

  func complete(_ completion: PollCompletion) throws -> PollRecord? {
    guard case .completed(let record) = try carryOut([.completion(completion)])[0].get() else { return nil }
    return record
  }
}
