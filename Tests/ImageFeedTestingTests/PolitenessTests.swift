import ImageFeedTesting
import PollingWorld
import TestSupport
import Testing

/// Days of the year that `swift run -c release year-of-polling --polite` simulates.
@Suite("Polling servers of every profile", .settled) struct PolitenessTests {
  @Test(arguments: 0..<8) func `no request breaks a polling rule, whenever the process is killed`(seed: Int) {
    let report = PoliteSimulation(seed: UInt64(seed), days: 6).run()
    #expect(report.failure == nil)
    #expect(report.requests > 600 && report.conditional * 10 > report.requests * 7)
  }

  @Test func `the same seed produces the same requests`() {
    #expect(PoliteSimulation(seed: 3, days: 5).run() == PoliteSimulation(seed: 3, days: 5).run())
  }

  // MARK: The scorer itself

  private typealias Request = PolitenessScorer.Request
  private let request = Request(url: "u", host: "h")

  private func faults(_ judge: (PolitenessScorer) -> Void) -> [PolitenessScorer.Rule] {
    let scorer = PolitenessScorer()
    judge(scorer)
    return scorer.faults.map(\.rule)
  }

  @Test func `the scorer detects each fault`() {
    #expect(faults { $0.asked(Request(url: "u", host: "h", etag: "1"), at: 0) } == [.exactValidators])
    #expect(faults { $0.asked(Request(url: "u", host: "h", lastModified: "1"), at: 0) } == [.exactValidators])
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.ended(request, .init(status: 200), at: 1)
        scorer.asked(request, at: 3000)
      } == [.hourly])
    #expect(
      faults { scorer in
        for hour in [0.0, 1, 2] {
          scorer.asked(request, at: hour * 3600)
          scorer.ended(request, .init(status: 200, etag: "1"), at: hour * 3600 + 1)
        }
      } == [.wholeDaily, .wholeDaily])
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.ended(request, .init(status: 429, pause: 100), at: 1)
        scorer.asked(Request(url: "v", host: "h"), at: 100)
        scorer.asked(Request(url: "w", host: "i"), at: 100)
      } == [.retryAfter])
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.neverArrived(request)
        scorer.asked(request, at: 1)
      } == [])
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.asked(Request(url: "v", host: "h"), at: 5)
      } == [.oneAtATime])
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.restarted(at: 1)
        scorer.ended(request, nil, at: 2)
        scorer.asked(Request(url: "v", host: "h"), at: 5)
      } == [], "a server may answer after its client was killed")
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.restarted(at: 1)
        scorer.ended(request, nil, at: 2)
        scorer.asked(Request(url: "v", host: "h"), at: 2.5)
      } == [], "a client that was killed does not know when its request ended")
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.ended(request, nil, at: 0.5)
        scorer.lost(request.url, of: request.host)
        scorer.restarted(at: 0.6)
        scorer.asked(Request(url: "v", host: "h"), at: 1)
        scorer.ended(Request(url: "v", host: "h"), nil, at: 1.1)
        scorer.asked(request, at: 4000)
        scorer.ended(request, nil, at: 4000.5)
        scorer.asked(Request(url: "v", host: "h"), at: 4001)
      } == [.secondApart], "it knows when it began")
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.ended(request, nil, at: 1)
        scorer.asked(Request(url: "v", host: "h"), at: 1.5)
      } == [.secondApart])
    #expect(
      faults { scorer in
        scorer.rules = [.noBurst]
        for number in 0..<21 { scorer.asked(Request(url: "\(number)", host: "\(number)"), at: 0) }
        scorer.restarted(at: 4000)
        for number in 0..<21 { scorer.asked(Request(url: "\(number)", host: "\(number)"), at: 4001) }
      } == [.noBurst])
    #expect(
      faults { scorer in
        scorer.asked(request, at: 0)
        scorer.ended(request, .init(status: 410), at: 1)
        scorer.asked(request, at: 4000)
      } == [.gone])
  }
}
