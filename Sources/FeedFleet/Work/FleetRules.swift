/// Numbers that every engine goes by.
enum FleetRules {
  /// So often in a row nothing is heard of a feed's worker before the feed is asked for less often.
  static let suspicious = 3
  /// The bounds of counts of lateness, in seconds.
  static let lateness = [1, 5, 15, 60, 300, 900, 3600, 86_400, 1_000_000_000]
  /// A version that is further in the future is not believed, in milliseconds: as `FeedCachePolicy` has it.
  static let future = 300_000
  /// A worker that wakes so long after a host's time comes wakes for it, in milliseconds.
  static let slack = 20

  /// How long a feed waits, in milliseconds, once that many workers were not heard of again; `nil` for not at all.
  static func wait(after lapses: Int) -> Int64? {
    lapses < suspicious ? nil : min(86_400_000, 3_600_000 << min(lapses - suspicious, 5))
  }
}
