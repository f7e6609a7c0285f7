public import Foundation

/// The reason why the cache had no feed to show.
public enum CacheMiss: Error, Hashable, Sendable {
  /// The cache was not read: see ``FallbackPolicy``.
  case notAsked
  /// Nothing is saved for the URL.
  case empty
  /// The saved feed is too old, or its timestamp is in the future (see ``FeedCachePolicy``).
  ///
  /// Nothing is deleted: a longer maximum age still shows the feed.
  ///
  /// - Parameter age: the time since the feed was requested; negative if its timestamp is in the future.
  case expired(age: Duration)
  /// The saved feed cannot be read.
  case failed(FeedStoreError)

  /// The store's error when reading; `nil` if there was none.
  public var failure: FeedStoreError? {
    switch self {
    case .failed(let error): error
    case .notAsked, .empty, .expired: nil
    }
  }
}

extension CacheMiss: CustomStringConvertible, LocalizedError {
  /// One sentence, or several after a failure.
  public var description: String {
    switch self {
    case .notAsked: "The cache was not read."
    case .empty: "No feed is saved for this URL."
    case .expired(let age) where age < .zero: "The saved feed is dated in the future; a clock is wrong, or was."
    case .expired: "The saved feed has expired."
    case .failed(let error): "\(error)"
    }
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }
}
