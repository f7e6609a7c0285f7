import PollingWorld
import TestSupport
import Testing

/// Short runs of the year that `swift run -c release year-of-polling` simulates, with faults forty times as frequent.
@Suite("Polling a world with every kind of failure", .settled)
struct YearOfPollingTests {
  private static let ages = [604_800, 86_400, 3600]

  private func simulate(_ seed: UInt64, _ sabotage: Sabotage? = nil) -> PollingReport {
    PollingSimulation(
      seed: seed, hours: 6, maxAge: Self.ages[Int(seed % 3)], haste: 40, sabotage: sabotage
    ).run()
  }

  @Test(arguments: 0..<10)
  func `after every event the right feed is shown, and no data is lost or left over`(decade: Int) {
    for seed in 0..<10 {
      let report = simulate(UInt64(decade * 10 + seed))
      #expect(report.failure == nil)
    }
  }

  @Test func `the simulations include every kind of event`() {
    let reports = (1000..<1018).map { simulate($0) }
    for count in [
      \PollingReport.feeds, \.savedFeeds, \.errors, \.saves, \.superseded, \.deletions, \.diskFailures, \.crashes,
      \.outages, \.clockJumps, \.changes,
    ] {
      #expect(reports.map { $0[keyPath: count] }.reduce(0, +) > 5, "\(count)")
    }
  }

  @Test func `the same seed produces the same events, and another seed different ones`() {
    #expect(simulate(7) == simulate(7))
    #expect(simulate(7).fingerprint != simulate(8).fingerprint)
  }

  @Test(arguments: Sabotage.allCases)
  func `each deliberate fault is found, reported with its seed, and found again`(sabotage: Sabotage) throws {
    let reports = (0..<30).lazy.map { simulate($0, sabotage) }
    let report = try #require(reports.first { $0.violation != nil }, "\(sabotage) was not found")
    #expect(simulate(report.seed, sabotage) == report)
    #expect(try #require(report.failure).contains("--first-seed \(report.seed)"))
  }
}
