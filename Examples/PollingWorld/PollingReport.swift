import FeedStream
import FeedStreamTesting

/// The result of a simulation.
public struct PollingReport: Sendable, Equatable {
  /// The condition that failed, and when.
  public struct Violation: Sendable, Equatable {
    public var time: StreamInstant
    public var message: String
  }

  public var seed: UInt64
  /// The number of hours to simulate.
  public var hours: Int
  /// The age at which saved feeds expire, in seconds.
  public var maxAge: Int
  /// The factor by which faults are more frequent than usual.
  public var haste: Int
  /// The first condition that failed; the simulation stops there.
  public var violation: Violation?
  /// A hash of everything that happened, in order: the same seed always gives the same value.
  public var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325

  public var polls = 0
  /// The number of polls to which the server responded with a feed.
  public var feeds = 0
  public var deliveries = 0
  /// The number of times a saved feed was delivered.
  public var savedFeeds = 0
  /// The number of times an error was delivered.
  public var errors = 0
  public var diskCalls = 0
  public var diskFailures = 0
  public var saves = 0
  public var superseded = 0
  /// The number of saved feeds that were deleted because they had expired or could not be read.
  public var deletions = 0
  public var crashes = 0
  public var outages = 0
  public var clockJumps = 0
  public var changes = 0
  /// The number of conditions that were checked.
  public var checks = 0

  mutating func note(_ values: Int64...) {
    for value in values {
      fingerprint = (fingerprint ^ UInt64(bitPattern: value)) &* 0x0000_0100_0000_01B3
    }
  }
}

extension PollingReport {
  /// The condition that failed, when, and how to repeat it; `nil` if all conditions held.
  public var failure: String? {
    guard let violation else { return nil }
    let seconds = violation.time.nanoseconds / 1_000_000_000
    let place = "day \(seconds / 86_400), second \(Double(violation.time.nanoseconds % 86_400_000_000_000) / 1e9)"
    return "seed \(seed), \(place): \(violation.message)\nRepeat it with: swift run -c release year-of-polling "
      + "--first-seed \(seed) --seeds 1 --hours \(hours) --max-age \(maxAge) --haste \(haste)"
  }
}
