package import Foundation

/// The state of polling in a store in memory.
package struct PollMemory: Sendable {
  package private(set) var feeds: [URL: FeedHealth] = [:]
  package private(set) var hosts: [String: HostHealth] = [:]
  package private(set) var decisions: [URL: [PollDecision]] = [:]

  package init() {}

  package mutating func claim(_ claim: PollClaim, _ validators: FeedValidators) -> PollVerdict {
    let (verdict, feed, host) = claim.decide(feeds[claim.feed.address], hosts[claim.host], validators)
    if case .granted = verdict {
      feeds[feed.address] = feed
      hosts[host.name] = host
    }
    return verdict
  }

  package mutating func release(_ host: HostHealth) { hosts[host.name] = host.merged(into: hosts[host.name]) }

  package mutating func note(_ record: PollRecord) {
    feeds[record.feed.address] = record.feed
    hosts[record.host.name] = record.host.merged(into: hosts[record.host.name])
    decisions[record.feed.address, default: []].append(record.decision)
    if decisions[record.feed.address]!.count > PollDecision.kept { decisions[record.feed.address]!.removeFirst() }
  }
}
