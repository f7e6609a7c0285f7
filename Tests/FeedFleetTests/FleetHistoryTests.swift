import Foundation
import TestSupport
import Testing

/// Random histories of a fleet in virtual time, checked against conditions that always hold.
@Suite(.settled) struct FleetHistoryTests {
  /// Five seeds, unless the environment sets a number, `FLEET_SEEDS=1000`, or a range, `FLEET_SEEDS=17...17`.
  static let seeds: ClosedRange<UInt64> = {
    let words = (ProcessInfo.processInfo.environment["FLEET_SEEDS"] ?? "").split(separator: "...").compactMap {
      UInt64($0)
    }
    return words.count == 2 ? words[0]...max(words[0], words[1]) : 1...(words.first ?? 5)
  }()

  @Test func `workers share hosts without failures`() {
    for seed in Self.seeds { FleetHistory(seed: seed, faults: []).run(minutes: 60) }
  }

  @Test func `dying workers and an unreachable engine lose no update and duplicate none`() {
    for seed in Self.seeds {
      FleetHistory(seed: seed, faults: [.death, .outage, .skew, .pause, .list, .gateway]).run(minutes: 60)
    }
  }

  @Test func `a failover to an older state may repeat requests, but never shows wrong data`() {
    for seed in Self.seeds {
      FleetHistory(seed: seed, faults: [.death, .outage, .skew, .failover, .trim, .list, .gateway]).run(minutes: 60)
    }
  }

  @Test func `an engine that refuses calls and loses replies is never taken for an empty one`() {
    for seed in Self.seeds {
      FleetHistory(seed: seed, faults: [.refusal, .loss, .death, .gateway, .pause]).run(minutes: 60)
      FleetHistory(seed: seed, faults: [.refusal, .loss, .death, .gateway, .list, .pause]).run(minutes: 60)
    }
  }

  @Test func `setting clocks while a fleet runs changes no lease and no due time`() {
    for seed in Self.seeds {
      FleetHistory(seed: seed, faults: [.step, .skew, .death, .gateway, .list, .pause]).run(minutes: 60)
    }
  }

  @Test func `all faults together break no guarantee`() {
    for seed in Self.seeds { FleetHistory(seed: seed, faults: Set(FleetHistory.Fault.allCases)).run(minutes: 60) }
  }
}
