public import Foundation
public import ImageFeed

/// The state of polling one feed, to explain the decisions about it.
public struct FeedExplanation: Sendable, Hashable {
  public var address: URL
  /// The saved feed; `nil` when nothing is saved.
  public var saved: CachedFeedSummary?
  /// The state of polling the feed; `nil` if it was never polled.
  public var health: FeedHealth?
  /// The state of the polled host; `nil` if it was never polled.
  public var host: HostHealth?
  /// The latest decisions, oldest first.
  public var decisions: [PollDecision]

  public init(
    address: URL, saved: CachedFeedSummary?, health: FeedHealth?, host: HostHealth?, decisions: [PollDecision]
  ) {
    self.address = address
    self.saved = saved
    self.health = health
    self.host = host
    self.decisions = decisions
  }

  /// Reads the state from a store. **Blocks**, like every call to a store.
  public init(of address: URL, in store: some FeedStore & PollStore) throws(FeedStoreError) {
    let address = address.absoluteURL
    let health = try store.health(of: [address])[0]
    self.init(
      address: address, saved: try store.summary(for: address), health: health,
      host: try store.health(ofHost: (health?.requestAddress ?? address).pollingHost),
      decisions: try store.decisions(for: address))
  }
}
