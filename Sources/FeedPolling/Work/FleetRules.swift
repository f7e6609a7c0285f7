/// Numbers that every engine goes by.
package enum FleetRules {
  /// The number of workers lost in a row with a feed after which it is requested less often.
  package static let suspicious = 3
  /// The bounds of counts of lateness, in seconds.
  package static let lateness = [1, 5, 15, 60, 300, 900, 3600, 86_400, 1_000_000_000]
  /// A version that is further in the future is not believed, in milliseconds: as `FeedCachePolicy` has it.
  package static let future = 300_000
  /// The time after a host is due within which a worker that wakes counts as awake for it, in milliseconds.
  package static let slack = 20

  /// How long a feed waits, in milliseconds, once that many workers were not heard of again; `nil` for not at all.
  package static func wait(after lapses: Int) -> Int64? {
    lapses < suspicious ? nil : min(86_400_000, 3_600_000 << min(lapses - suspicious, 5))
  }
}
