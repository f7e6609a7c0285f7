import ImageFeed
import PlainText

/// The reason why an engine's operation failed.
public enum FleetError: Error, Sendable {
  /// The engine's own error, such as `RedisError`. `isTemporary` is true if the operation may succeed later without any
  /// change.
  case engine(any Error, isTemporary: Bool)
  /// The store is empty: no feeds were added, or the store was emptied.
  case noFeeds(String)
  /// The store belongs to another program: it has `keys` keys, but no fleet.
  case foreign(String, keys: Int)
  /// A newer version of this program wrote the store.
  case newerSchema(String, Int)
  /// An older version of this program wrote the store, and this version can't read it.
  case olderSchema(String, Int)
  /// The server's eviction policy deletes keys when memory is full, so feeds would be lost.
  case evicting(String, policy: String)
  /// The stored data is malformed.
  case damaged(String, String)
}

extension FleetError {
  /// True if the operation may succeed later without any change.
  public var isTemporary: Bool {
    switch self {
    case .engine(_, let isTemporary): isTemporary
    // The store may have been emptied by mistake, and may be restored.
    case .noFeeds: true
    case .foreign, .newerSchema, .olderSchema, .evicting, .damaged: false
    }
  }
}

extension FleetError: CustomStringConvertible {
  /// One sentence about the failure, and one about the remedy if there is one.
  public var description: String { sentences.printable }

  private var sentences: String {
    switch self {
    case .engine(let error, _): "\(error)"
    case .noFeeds(let place):
      "\(place) has no feeds. Add some with \"feed subscriptions import <file> --store \(place)\"."
    case .foreign(let place, let keys):
      "\(place) has no feeds, but \(keys) \(keys == 1 ? "key" : "keys") from another program, so it was left "
        + "unchanged. "
        + "Choose another database with the number at the end of the URL: /1, or ?db=1 for a socket."
    case .newerSchema(let place, let version):
      "A newer version of this program wrote \(place) (schema \(version)). Update this program, or choose another database."
    case .olderSchema(let place, let version):
      "An older version of this program wrote \(place) (schema \(version)), so it was left unchanged. Choose another "
        + "database, and add the feeds there with \"feed subscriptions import\"."
    case .evicting(let place, let policy):
      "\(place) deletes keys when its memory is full (maxmemory-policy \(policy)): feeds would be lost silently, so nothing "
        + "was written. Run redis-cli CONFIG SET maxmemory-policy noeviction, and put the same setting in the server's configuration file."
    case .damaged(let place, let what): "\(what) in \(place) is damaged, so its host is skipped for now."
    }
  }
}

/// Errors are equal if their messages are equal, because an engine's own error may not be comparable.
extension FleetError: Hashable {
  public static func == (one: FleetError, other: FleetError) -> Bool { one.description == other.description }
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension FleetError {
  /// The error for a failure of an engine's feed store, which may be the engine itself.
  package static func store(_ error: FeedStoreError) -> FleetError {
    .engine(error, isTemporary: error.cause == .busy)
  }
}
