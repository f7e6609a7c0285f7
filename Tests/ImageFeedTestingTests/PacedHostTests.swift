import PollingWorld
import TestSupport
import Testing

/// Sixty feeds of one host that accepts one request per 61 seconds.
@Suite(.settled) struct PacedHostTests {
  @Test(arguments: PacedSimulation.Manner.allCases)
  func `polling all feeds of a paced host takes at most 64 minutes, with at most five refusals`(
    manner: PacedSimulation.Manner
  ) throws {
    let report = PacedSimulation(manner).run(hours: 72, every: .seconds(600))
    #expect(report.refusals <= 5)
    #expect(report.longestRound > 60 * 61 && report.longestRound <= 64 * 60)
    #expect(try #require(report.firstRound) < 3 * 3600)
    if manner == .stated { #expect(report.refusals == 0 && report.firstRound! <= 62 * 60) }
  }

  @Test func `without learning the pace, most requests are refused`() {
    let report = PacedSimulation(.retryAfter, learns: false).run(hours: 72, every: .seconds(600))
    #expect(report.refusals > 1000)
  }

  @Test(arguments: PacedSimulation.Manner.allCases)
  func `a host that accepts a request per second isn't slowed`(manner: PacedSimulation.Manner) throws {
    let report = PacedSimulation(manner, pace: 1).run(hours: 3, every: .seconds(600))
    #expect(report.refusals == 0 && report.requests > 60 * 16)
    #expect(try #require(report.firstRound) < 80)
  }
}
