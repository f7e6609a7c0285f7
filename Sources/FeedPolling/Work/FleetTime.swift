/// The time of a fleet: it follows the engine's clock, but never goes back, and doesn't jump while the fleet is in use.
///
/// Leases, gaps, pauses and due times are measured by this time. The engine's clock may be set, the engine may stop for
/// a while, or another engine with a different clock may take over. In each case, the fleet's time advances by the
/// elapsed time on its users' monotonic clocks. After that, it follows the engine's clock again, running a tenth faster
/// or slower until both agree.
package struct FleetTime: Hashable, Sendable {
  /// A fleet time that a user received, and the time that has passed since then by that user's own clock; both in
  /// milliseconds.
  package struct Sight: Hashable, Sendable {
    package var told: Double
    package var since: Double

    package init(told: Double, since: Double) { (self.told, self.since) = (told, since) }
  }

  /// The tolerated difference between two clocks, in milliseconds.
  package static let tolerance = 2000
  /// The divisor of the correction: until the fleet's time agrees with the engine's clock, the fleet's time runs one
  /// tenth faster or slower.
  package static let pace = 10

  /// The fleet's time, in milliseconds since 1970.
  package private(set) var clock: Double
  /// The engine's clock at that time.
  package private(set) var raw: Double

  package init(clock: Double, raw: Double) { (self.clock, self.raw) = (clock, raw) }

  /// - Parameters:
  ///   - raw: the engine's clock now.
  ///   - sight: the fleet time that a user last received; `nil` for a user that has received none yet.
  ///   - isIdle: true if no host is leased. In that case, a fleet that was idle for a long time adopts the engine's
  ///     clock.
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
