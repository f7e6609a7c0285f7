public import Foundation
public import ImageFeed

/// Keeps the state of polling feeds and hosts, for every process that shares it: the port between the poller and a
/// database.
///
/// As with `FeedStore`, every call **blocks** until it is done, and each is atomic for every process.
public protocol PollStore: Sendable {
  /// The state of each of `addresses`, in their order; `nil` for those that were never polled.
  func health(of addresses: [URL]) throws(FeedStoreError) -> [FeedHealth?]

  /// The state of a host; `nil` if it was never polled.
  func health(ofHost name: String) throws(FeedStoreError) -> HostHealth?

  /// The latest decisions about a feed, oldest first; at most ``PollDecision/kept``.
  func decisions(for address: URL) throws(FeedStoreError) -> [PollDecision]

  /// Carries out several operations, in one transaction if the store supports that; each has its own result.
  func carryOut(_ works: [PollWork]) -> [Result<PollAnswer, FeedStoreError>]
}
