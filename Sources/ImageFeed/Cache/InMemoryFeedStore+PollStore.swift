public import Foundation

extension InMemoryFeedStore: PollStore {
  public func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] {
    polls.withLock { polls in addresses.map { polls.feeds[$0.absoluteURL] } }
  }

  public func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? {
    polls.withLock { $0.hosts[name] }
  }

  public func claim(_ claim: PollClaim) throws(FeedStoreError) -> PollVerdict {
    let validators = try summary(for: claim.feed.address)?.validators ?? FeedValidators()
    return polls.withLock { $0.claim(claim, validators) }
  }

  @discardableResult public func record(_ record: PollRecord, now: Date) throws(FeedStoreError) -> Bool {
    if let renewal = record.renewal {
      guard try renew(for: record.feed.address, with: renewal, now: now) != nil else { return false }
    }
    polls.withLock { $0.record(record) }
    return true
  }

  public func release(_ host: HostHealth) throws(FeedStoreError) {
    polls.withLock { $0.release(host) }
  }

  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    polls.withLock { $0.decisions[address.absoluteURL] ?? [] }
  }
}
