public import Foundation

/// The reason why the cache had no feed to show.
public enum CacheMiss: Error, Hashable, Sendable {
  /// The cache was not read: see ``FallbackPolicy``.
  case notAsked
  /// Nothing is saved for the URL.
  case empty
  /// The saved feed is too old, or its timestamp is in the future (see ``FeedCachePolicy``).
  ///
  /// - Parameter age: the time since the feed was requested; negative if its timestamp is in the future.
  case expired(age: Duration, Fate)
  /// The saved feed cannot be read.
  case failed(FeedStoreError)

  /// The fate of an expired feed.
  public enum Fate: Hashable, Sendable {
    /// It was deleted, as ``CacheCleaning`` requires.
    case deleted
    /// It was kept: its deletion was not requested, it is too young for its cache's policy, or a newer feed had
    /// replaced it.
    case kept
    /// It was kept: its deletion failed.
    case undeletable(FeedStoreError)
  }

  /// The store's error when reading or deleting; `nil` if both succeeded.
  public var failure: FeedStoreError? {
    switch self {
    case .failed(let error), .expired(_, .undeletable(let error)): error
    case .notAsked, .empty, .expired(_, .deleted), .expired(_, .kept): nil
    }
  }
}

extension CacheMiss: CustomStringConvertible, LocalizedError {
  /// One sentence, or several after a failure.
  public var description: String {
    switch self {
    case .notAsked: "The cache was not read."
    case .empty: "No feed is saved for this URL."
    case .expired(_, .deleted): "The saved feed had expired and was deleted."
    case .expired(_, .kept): "The saved feed has expired."
    case .expired(_, .undeletable(let error)): "The saved feed has expired. \(error)"
    case .failed(let error): "\(error)"
    }
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }
}
