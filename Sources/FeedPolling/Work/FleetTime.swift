/// The time of a fleet: its engine's clock, but it never goes back, and does not jump while anybody uses it.
///
/// Leases, gaps, pauses and due times are moments of this time. When the engine's clock is set, or the engine stands still, or
/// another one with another clock takes over, the fleet's time goes on from where it was, by what its users' own clocks say has
/// passed, which nobody sets; then it follows the engine's clock again, a tenth faster or slower until it is as late.
package struct FleetTime: Hashable, Sendable {
  /// A time that a user was told, and how long ago by that user's own clock; both in milliseconds.
  package struct Sight: Hashable, Sendable {
    package var told: Double
    package var since: Double

    package init(told: Double, since: Double) { (self.told, self.since) = (told, since) }
  }

  /// A difference of two clocks that is believed, in milliseconds.
  package static let tolerance = 2000
  /// The divisor of its speed: it is faster or slower by one part in this many, until it is the engine's clock.
  package static let pace = 10

  /// Milliseconds since 1970.
  package private(set) var clock: Double
  /// The engine's clock at that moment.
  package private(set) var raw: Double

  package init(clock: Double, raw: Double) { (self.clock, self.raw) = (clock, raw) }

  /// - Parameters:
  ///   - raw: the engine's clock now.
  ///   - sight: a user's; `nil` for one that was told no time yet.
  ///   - isIdle: true when no host is taken: then one that has slept for long believes the engine's clock.
  package mutating func advance(to raw: Double, _ sight: Sight?, isIdle: @autoclosure () throws -> Bool) rethrows {
    var passed = raw - self.raw
    let likely = sight.map { max(0, $0.told + $0.since - clock) }
    let tolerance = Double(Self.tolerance)
    if passed < 0 {
      passed = likely ?? 0
    } else if let likely, passed > likely + tolerance {
      passed = likely
    } else if likely == nil, passed > tolerance, raw > clock + passed, try isIdle() {
      passed = raw - clock
    }
    clock += passed
    let most = passed / Double(Self.pace)
    clock += max(-most, min(raw - clock, most))
    self.raw = raw
  }
}
