/// Constants for every engine.
package enum FleetRules {
  /// The number of workers that must be lost in a row, while polling the same feed, before that feed is requested less
  /// often.
  package static let suspicious = 3
  /// The bounds of the lateness histogram, in seconds.
  package static let lateness = [1, 5, 15, 60, 300, 900, 3600, 86_400, 1_000_000_000]
  /// The maximum time by which a version may be in the future, in milliseconds, as in `FeedCachePolicy`.
  package static let future = 300_000
  /// The maximum size of a feed's saved images, in bytes: gateways must be able to read what workers save.
  package static let documentBytes = 32 << 20
  /// A tolerance in milliseconds: a worker that wakes at most this long after a host is due counts as awake for that
  /// host.
  package static let slack = 20
  /// The tolerated difference between two clocks, in milliseconds.
  package static let tolerance = 2000
  /// The divisor of the correction: until the fleet's time agrees with the engine's clock, the fleet's time runs one
  /// tenth faster or slower.
  package static let pace = 10
}
