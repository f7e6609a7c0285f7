public import Foundation
public import ImageFeed

// Repeated for each store: an extension of `NoteStore`, which is `package`, can't meet a public protocol's
// requirements.
extension SQLiteFeedStore: PollStore {
  public func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] {
    try reading { try $0.health(of: addresses) } ?? addresses.map { _ in nil }
  }
  public func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? {
    try reading { try $0.health(ofHost: name) } ?? nil
  }
  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    try reading { try $0.decisions(for: address) } ?? []
  }
  public func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] { carryOutTogether(works) }
}

extension InMemoryFeedStore: PollStore {
  public func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?] {
    try reading { try $0.health(of: addresses) } ?? addresses.map { _ in nil }
  }
  public func health(ofHost name: String) throws(FeedStoreError) -> HostHealth? {
    try reading { try $0.health(ofHost: name) } ?? nil
  }
  public func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision] {
    try reading { try $0.decisions(for: address) } ?? []
  }
  public func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>] { carryOutTogether(works) }
}
