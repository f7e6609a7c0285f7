public import FeedStream
public import Foundation

/// The saved feeds, on a loop: the store's calls run off the loop, one at a time, in order.
///
/// Use one cache for each store: the cache makes its side effects serial. It lives on its scheduler's thread, as
/// streams do.
public final class FeedCache {
  let store: any FeedStore
  package let worker: SerialWorker
  package let now: @Sendable () -> Date
  let policy: FeedCachePolicy

  /// - Parameters:
  ///   - store: keeps the feeds.
  ///   - scheduler: delivers results; its thread pool runs the store's calls.
  ///   - policy: how old a feed must be before a load may delete it; seven days by default. A load with a smaller
  ///     maximum age does not show such a feed, and leaves it for others.
  ///   - now: the wall clock that feeds are stamped with and their age is measured by.
  public init(
    store: any FeedStore, on scheduler: any LoopScheduler, policy: FeedCachePolicy = FeedCachePolicy(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.store = store
    self.now = now
    self.policy = policy
    worker = SerialWorker(on: scheduler)
  }

  /// Calls `body` on the scheduler when every earlier call of the store has ended, so that saves are completed.
  public func whenIdle(_ body: @escaping () -> Void) {
    worker.perform({}, completion: { (_: Result<Void, Never>) in body() })
  }

  /// The saved feed of one address.
  public func feed(at address: URL) -> LocalFeed { LocalFeed(address: address, cache: self) }
}

/// The saved feed of one address: load it, validate it, replace it.
///
/// Each use case is a publisher that does nothing until it is subscribed to.
public struct LocalFeed {
  public let address: URL
  let cache: FeedCache
}

/// The feeds that loading may delete.
public enum CacheCleaning: Hashable, Sendable {
  /// Nothing: loading has no side effects.
  case nothing
  /// A feed that has expired, by the policy of its cache as well.
  case expired
  /// The same, or a feed that cannot be retrieved: leaves the cache as validation would.
  case invalid
}
