public import FeedStream
public import Foundation

/// Gives a loop access to the saved feeds. Calls to the store run off the loop, one at a time, in order.
///
/// Use one cache for each store, because the cache serializes the store's side effects. Call it only on its scheduler's
/// thread, like a stream.
public final class FeedCache {
  let store: any FeedStore
  package let worker: SerialWorker
  package let now: @Sendable () -> Date

  /// - Parameters:
  ///   - store: keeps the feeds.
  ///   - scheduler: delivers results; its thread pool runs calls to the store.
  ///   - now: the wall clock, for the feeds' timestamps and ages.
  public init(
    store: any FeedStore, on scheduler: any LoopScheduler, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.store = store
    self.now = now
    worker = SerialWorker(on: scheduler)
  }

  /// Calls `body` on the scheduler after all earlier calls to the store, such as saves, have completed.
  public func whenIdle(_ body: @escaping () -> Void) {
    worker.perform({}, completion: { (_: Result<Void, Never>) in body() })
  }

  /// The saved feed of one URL.
  public func feed(at address: URL) -> LocalFeed { LocalFeed(address: address, cache: self) }
}

/// The saved feed of one URL, which can be loaded, validated or replaced.
///
/// Each use case is a publisher that does nothing until it is subscribed to.
public struct LocalFeed {
  public let address: URL
  let cache: FeedCache
}
