public import Foundation

/// The reason why the cache had no feed to show.
public enum CacheMiss: Error, Hashable, Sendable {
  /// The cache was not asked: see ``FallbackPolicy``.
  case notAsked
  /// Nothing is saved for the address.
  case empty
  /// The saved feed is too old, or its timestamp lies in the future (see ``FeedCachePolicy``).
  ///
  /// - Parameter age: how long ago the server was asked for it; negative when its timestamp lies in the future.
  case expired(age: Duration, Fate)
  /// The saved feed cannot be read.
  case failed(FeedStoreError)

  /// The fate of an expired feed.
  public enum Fate: Hashable, Sendable {
    /// It was deleted, as ``CacheCleaning`` asked.
    case deleted
    /// It is still there: its deletion was not requested, it is too young for that, or a newer feed had replaced it.
    case kept
    /// It is still there: its deletion failed.
    case undeletable(FeedStoreError)
  }

  /// The store's error in reading or deleting; `nil` when both succeeded.
  public var failure: FeedStoreError? {
    switch self {
    case .failed(let error), .expired(_, .undeletable(let error)): error
    case .notAsked, .empty, .expired(_, .deleted), .expired(_, .kept): nil
    }
  }
}

extension CacheMiss: CustomStringConvertible, LocalizedError {
  /// One sentence, and more after a failure.
  public var description: String {
    switch self {
    case .notAsked: "The saved feed was not looked for."
    case .empty: "No feed is saved for this address."
    case .expired(_, .deleted): "The saved feed had expired and is deleted."
    case .expired(_, .kept): "The saved feed has expired."
    case .expired(_, .undeletable(let error)): "The saved feed has expired. \(error)"
    case .failed(let error): "\(error)"
    }
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }
}
