import FeedStream
import FeedStreamTesting

/// What a simulation came to.
public struct PollingReport: Sendable, Equatable {
  /// What did not hold, and when.
  public struct Violation: Sendable, Equatable {
    public var time: StreamInstant
    public var message: String
  }

  public var seed: UInt64
  /// How many hours were asked for.
  public var hours: Int
  /// When saved feeds expired, in seconds.
  public var maxAge: Int
  /// How much faster than usual trouble came.
  public var haste: Int
  /// The first thing that did not hold, after which nothing was simulated.
  public var violation: Violation?
  /// Made of everything that happened, in order: the same for the same seed, always.
  public var fingerprint: UInt64 = 0xCBF2_9CE4_8422_2325

  public var polls = 0
  /// Polls that the server answered with a feed.
  public var feeds = 0
  public var deliveries = 0
  /// Deliveries of a saved feed.
  public var savedFeeds = 0
  /// Deliveries of an error.
  public var errors = 0
  public var diskCalls = 0
  public var diskFailures = 0
  public var saves = 0
  public var superseded = 0
  /// Saved feeds deleted because they had expired or could not be read.
  public var deletions = 0
  public var crashes = 0
  public var outages = 0
  public var clockJumps = 0
  public var changes = 0
  /// How often everything was checked.
  public var checks = 0

  mutating func note(_ values: Int64...) {
    for value in values {
      fingerprint = (fingerprint ^ UInt64(bitPattern: value)) &* 0x0000_0100_0000_01B3
    }
  }
}

extension PollingReport {
  /// What did not hold, when, and how to see it again; `nil` if everything held.
  public var failure: String? {
    guard let violation else { return nil }
    let seconds = violation.time.nanoseconds / 1_000_000_000
    let place = "day \(seconds / 86_400), second \(Double(violation.time.nanoseconds % 86_400_000_000_000) / 1e9)"
    return "seed \(seed), \(place): \(violation.message)\nHave it again: swift run -c release year-of-polling "
      + "--first-seed \(seed) --seeds 1 --hours \(hours) --max-age \(maxAge) --haste \(haste)"
  }
}
