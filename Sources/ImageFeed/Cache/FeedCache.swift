public import FeedStream
public import Foundation

/// The saved feeds, on a loop: a store whose calls run aside, one at a time, in the order asked.
///
/// Everything that is to use one store goes through one cache, which is what makes its side effects serial. Lives on its
/// scheduler's thread, as streams do.
public final class FeedCache {
  let store: any FeedStore
  let worker: SerialWorker
  let now: @Sendable () -> Date
  let policy: FeedCachePolicy

  /// - Parameters:
  ///   - store: where feeds are kept.
  ///   - scheduler: where results are delivered, and whose thread pool the store's calls run on.
  ///   - policy: how old a feed must be before a load may delete it; seven days by default. A load that asks for a younger
  ///     one does not show it, and leaves it for others.
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

  /// Calls `body` on the scheduler once every call of the store that was asked for before has ended: saves are completed
  /// then.
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

/// What loading may delete.
public enum CacheCleaning: Hashable, Sendable {
  /// Nothing: loading has no side effects.
  case nothing
  /// A feed that has expired, by the policy of its cache as well.
  case expired
  /// The same, or a feed that cannot be retrieved: the cache is left as validation would leave it.
  case invalid
}
