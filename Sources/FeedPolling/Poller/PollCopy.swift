import FeedStream
import Foundation
package import ImageFeed

/// The saved feed, as used by a poll.
package struct SavedFeed {
  /// The validators for the request, if the lease has none.
  package var trusted: AnyPublisher<FeedValidators, Never>
  /// The saved feed, whatever its age.
  package var retrieve: () -> AnyPublisher<CachedFeed, FeedStoreError>
  /// The saved feed, to be shown if the server has none.
  package var load: () -> AnyPublisher<CachedFeed, CacheMiss>

  /// The feed in a cache.
  package init(_ local: LocalFeed, maxAge: Duration?) {
    trusted = local.trusted
    retrieve = { local.retrieve() }
    load = { local.load(maxAge: maxAge) }
  }

  /// A feed that isn't shown and whose saved state is in the lease, so that no store needs to be read.
  package init(_ lease: PollLease, timestamp: Date?) {
    trusted = Just(lease.since ?? FeedValidators()).eraseToAnyPublisher()
    let saved = timestamp.map { CachedFeed(images: FeedImages([]), timestamp: $0, validators: lease.saved) }
    retrieve = { saved.publisher.setFailureType(to: FeedStoreError.self).eraseToAnyPublisher() }
    load = { Fail(error: saved == nil ? .empty : .notAsked).eraseToAnyPublisher() }
  }
}

/// The copy that the operators of a poll save to: it holds the values to save when the poll completes.
final class PollCopy: LocalCopy {
  let now: @Sendable () -> Date
  private let saved: SavedFeed
  private(set) var change: PollCompletion.Change?

  init(_ saved: SavedFeed, now: @escaping @Sendable () -> Date) {
    self.saved = saved
    self.now = now
  }

  func saving(_ feed: CachedFeed) -> AnyPublisher<FeedImages, FeedStoreError> {
    change = .replacement(feed)
    return Empty().eraseToAnyPublisher()
  }

  func retrieve() -> AnyPublisher<CachedFeed, FeedStoreError> { saved.retrieve() }

  func renewing(_ feed: CachedFeed, with renewal: FeedRenewal) -> AnyPublisher<FeedImages, FeedStoreError> {
    change = .renewal(renewal)
    return Empty().eraseToAnyPublisher()
  }
}
