import Foundation
import ImageFeed

extension PollCompletion {
  /// The completion of a request after which `record` is noted, whatever saving does.
  init(_ record: PollRecord, renewing renewal: FeedRenewal? = nil, now: Date) {
    let lease = PollLease(feed: record.feed, host: record.host.name, saved: FeedValidators(), since: nil)
    self.init(
      of: lease, renewal.map { .renewal($0) }, wasRead: false, pausesHost: record.host.pausedUntil != nil, now: now
    ) { _ in record }
  }
}
