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

  @discardableResult public func complete(_ completion: PollCompletion) throws(FeedStoreError) -> PollRecord? {
    var replacement: FeedReplacement?
    switch completion.change {
    case .replacement(let feed): replacement = try replace(for: completion.address, with: feed, now: completion.now)
    case .renewal(let renewal):
      replacement = try renew(for: completion.address, with: renewal, now: completion.now)
      guard replacement != nil || completion.wasRead else { return nil }
    case nil: break
    }
    let record = completion.record(replacement)
    polls.withLock { $0.note(record) }
    return record
  }

  public func release(_ host: HostHealth) throws(FeedStoreError) {
    polls.withLock { $0.release(host) }
  }

  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    polls.withLock { $0.decisions[address.absoluteURL] ?? [] }
  }
}
