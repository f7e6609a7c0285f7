import FeedPolling

/// The time of a fleet, computed as ``FleetScripts`` do.
struct FleetTime {
  /// A fleet time that a user received, and the time that has passed since then by that user's own clock; both in
  /// milliseconds.
  struct Sight {
    var told: Double
    var since: Double
  }

  /// The fleet's time, in milliseconds since 1970.
  private(set) var clock: Double
  /// The engine's clock at that time.
  private(set) var raw: Double

  init(clock: Double, raw: Double) { (self.clock, self.raw) = (clock, raw) }

  /// - Parameters:
  ///   - raw: the engine's clock now.
  ///   - sight: the fleet time that a user last received; `nil` for a user that has received none yet.
  ///   - isIdle: true if no host is leased. In that case, a fleet that was idle for a long time adopts the engine's
  ///     clock.
  mutating func advance(to raw: Double, _ sight: Sight?, isIdle: @autoclosure () throws -> Bool) rethrows {
    var passed = raw - self.raw
    let likely = sight.map { max(0, $0.told + $0.since - clock) }
    let tolerance = Double(FleetRules.tolerance)
    if passed < 0 {
      passed = likely ?? 0
    } else if let likely, passed > likely + tolerance {
      passed = likely
    } else if likely == nil, passed > tolerance, raw > clock + passed, try isIdle() {
      passed = raw - clock
    }
    clock += passed
    let most = passed / Double(FleetRules.pace)
    clock += max(-most, min(raw - clock, most))
    self.raw = raw
  }
}

extension FleetRules {
  /// The time that a feed waits, in milliseconds, after `lapses` workers died polling it; `nil` if it doesn't wait.
  static func wait(after lapses: Int) -> Int64? {
    lapses < suspicious ? nil : min(86_400_000, 3_600_000 << min(lapses - suspicious, 5))
  }
}
