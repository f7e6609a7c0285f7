public import Foundation
public import ImageFeed

extension VirtualDisk: PollStore {
  public func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] {
    try reading(.health(addresses)) { polls in addresses.map { polls.feeds[$0.absoluteURL] } }
  }

  public func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? {
    try reading(.hostHealth(name)) { $0.hosts[name] }
  }

  public func claim(_ claim: PollClaim) throws(FeedStoreError) -> PollVerdict {
    try changing(.claim(claim), of: claim.feed.address) { platter in
      let record = platter.durable[claim.feed.address.absoluteURL]
      return platter.polls.claim(claim, record?.feed.validators ?? FeedValidators())
    }
  }

  @discardableResult public func complete(_ completion: PollCompletion) throws(FeedStoreError) -> PollRecord? {
    let address = completion.address.absoluteURL
    return try changing(.complete(address, completion.change), of: address) { platter in
      var replacement: FeedReplacement?
      switch completion.change {
      case .replacement(let feed): replacement = try platter.replace(address, with: feed, now: completion.now)
      case .renewal(let renewal):
        guard platter.renew(address, with: renewal, now: completion.now) || completion.wasRead else { return nil }
        replacement = .renewed
      case nil: break
      }
      let record = completion.record(replacement)
      platter.polls.note(record)
      return record
    }
  }

  public func release(_ host: HostHealth) throws(FeedStoreError) {
    try changing(.release(host), of: nil) { $0.polls.release(host) }
  }

  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    try reading(.decisions(address)) { $0.decisions[address.absoluteURL] ?? [] }
  }

  private func reading<T>(_ call: DiskCall, _ body: (PollMemory) -> T) throws(FeedStoreError) -> T {
    let outcome: (T) -> DiskEvent.Outcome = { _ in .polling }
    return try serve(call, .retrieval, outcome) { platter in
      try platter.pass(.read, .retrieval, at: nil)
      return body(platter.polls)
    }
  }

  /// Makes a change that a crash before the commit undoes.
  private func changing<T>(
    _ call: DiskCall, of address: URL?, _ change: (inout Platter) throws -> T
  ) throws(FeedStoreError) -> T {
    let outcome: (T) -> DiskEvent.Outcome = { _ in .polling }
    return try serve(call, .insertion, outcome) { platter in
      try platter.pass(.read, .insertion, at: nil)
      try platter.pass(.write, .insertion, at: nil)
      return try platter.transaction(.insertion, at: nil, change)
    }
  }
}
