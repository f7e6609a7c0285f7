import FeedFormats
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

/// The time when a feed is requested again.
@Suite(.settled) struct ScheduleTests {
  private static let hour = 3600.0
  private static let day = 86_400.0

  /// A hundred due times, in seconds from now, and the rule.
  private func waits(
    every interval: Duration? = .seconds(3600), after facts: AnswerFacts, at now: Date = noon,
    _ change: (inout FeedHealth) -> Void = { _ in }
  ) -> (range: ClosedRange<Double>, count: Int, rule: Schedule.Rule) {
    var health = FeedHealth(address: address)
    health.asked = now
    change(&health)
    health.note(facts, "", now: now)
    var random = SeededGenerator(seed: 1)
    let due = (0..<100).map { _ in
      Schedule(every: interval).due(after: facts, health, now: now, using: &random)
    }
    let seconds = due.compactMap { $0.date?.timeIntervalSince(now) }
    return ((seconds.min() ?? 0)...(seconds.max() ?? 0), Set(seconds).count, due[0].rule)
  }

  private func fresh(_ seconds: Int) -> AnswerFacts {
    AnswerFacts(.unchanged, freshness: .init(lifetime: .seconds(seconds), field: "max-age=\(seconds)"))
  }

  @Test func `without hints, the user's interval is used, lengthened by up to a tenth`() {
    let (range, count, rule) = waits(after: AnswerFacts(.changed))
    #expect(range.lowerBound >= Self.hour && range.lowerBound < 3610)
    #expect(range.upperBound <= 3960 && range.upperBound > 3900)
    #expect(count == 100 && rule == .interval)
  }

  @Test(arguments: [
    (3599, Schedule.Rule.interval, 3600.0), (3601, .freshness, 3601), (86_399, .freshness, 86_399),
    (86_401, .freshness, 86_400), (504_576_000, .freshness, 86_400),
  ])
  func `a fresh response isn't requested again until it is stale, for up to a day`(
    seconds: Int, rule: Schedule.Rule, floor: Double
  ) {
    let waits = waits(after: fresh(seconds))
    #expect(waits.rule == rule)
    #expect(waits.range.lowerBound >= floor && waits.range.upperBound <= floor * 1.1)
  }

  @Test func `an interval of more than a day is used`() {
    #expect(waits(every: .seconds(7 * 86_400), after: fresh(60)).range.lowerBound >= 7 * Self.day)
  }

  @Test func `ttl and sy:updatePeriod are lower bounds, remembered while the feed is unchanged`() {
    var hints = PollingHints()
    hints.minutesToLive = 120
    #expect(waits(after: AnswerFacts(.changed, hints: hints)).rule == .ttl)
    let remembered = waits(after: AnswerFacts(.unchanged)) { $0.hints = hints }
    #expect(remembered.rule == .ttl && remembered.range.lowerBound >= 7200)
    hints.updateInterval = 10_800
    let period = waits(after: AnswerFacts(.changed, hints: hints))
    #expect(period.rule == .updatePeriod && period.range.lowerBound >= 10_800)
    hints.updateInterval = 7 * 86_400
    #expect(waits(after: AnswerFacts(.changed, hints: hints)).range.upperBound <= Self.day * 1.1)
  }

  // 2025-06-15T15:06:40Z, a Sunday.
  @Test func `skipHours and skipDays delay a poll by at most a day`() {
    var hints = PollingHints()
    hints.skippedHours = [16, 17, 18]
    let hours = waits(after: AnswerFacts(.changed, hints: hints))
    #expect(hours.rule == .skipped)
    // The poll is due at 19:00, or up to ten minutes later.
    #expect(hours.range.lowerBound >= 14_000 && hours.range.upperBound <= 14_600)
    hints.skippedHours = []
    hints.skippedDays = ["Sunday", " monday", "Tuesday"]
    #expect(waits(after: AnswerFacts(.changed, hints: hints)).range.upperBound <= Self.day)
    hints.skippedDays = ["Sunday"]
    // Midnight is in 31,999 seconds.
    let days = waits(after: AnswerFacts(.changed, hints: hints)).range
    #expect(days.lowerBound >= 31_999 && days.upperBound <= 32_601)
    hints.skippedHours = Array(0...23)
    hints.skippedDays = ["everyday", "x"]
    #expect(waits(after: AnswerFacts(.changed, hints: hints)).rule == .interval)
  }

  @Test func `the adaptive interval is a third of the time between changes, from an hour to a day`() {
    func range(_ change: (inout FeedHealth) -> Void) -> ClosedRange<Double> {
      waits(every: nil, after: AnswerFacts(.unchanged), change).range
    }
    #expect(range { _ in }.lowerBound >= Self.hour)
    let daily = range {
      $0.changeInterval = Self.day
      $0.changed = noon - 60
    }
    #expect(daily.lowerBound >= 8 * Self.hour && daily.upperBound <= 8.8 * Self.hour)
    // A feed that hasn't changed for a long time is polled rarely.
    let quiet = range { $0.changed = noon - 30 * Self.day }
    #expect(quiet.lowerBound >= Self.day && quiet.upperBound <= 1.1 * Self.day)
  }

  @Test func `the measured time between changes adapts to the feed`() {
    var health = FeedHealth(address: address)
    for hours in 0..<100 { health.note(AnswerFacts(.changed), "", now: noon + Double(hours) * 3600) }
    #expect(abs(health.changeInterval! - 3600) < 1)
    for days in 5..<40 { health.note(AnswerFacts(.changed), "", now: noon + Double(days) * Self.day) }
    #expect(health.changeInterval! > 0.9 * Self.day)
  }

  @Test(arguments: [429, 503])
  func `a pause is as long as the server says, else ten minutes, and at most a day`(status: Int) {
    func range(_ pause: Int?) -> (range: ClosedRange<Double>, rule: Schedule.Rule) {
      let waits = waits(
        every: .seconds(60), after: AnswerFacts(.refused(status), retryAfter: pause.map { .seconds($0) }))
      return (waits.range, waits.rule)
    }
    #expect(range(1000).range.lowerBound >= 1000 && range(1000).range.upperBound <= 1100)
    #expect(range(1000).rule == .retryAfter)
    #expect(range(nil).range.lowerBound >= 600 && range(nil).range.upperBound <= 660)
    #expect(range(1_000_000).range.lowerBound >= Self.day && range(1_000_000).range.upperBound <= 1.1 * Self.day)
    #expect(range(0).range.lowerBound >= 60 && range(0).rule == .interval)
  }

  @Test func `after failures, waits grow randomly up to a cap, and polling never ends`() {
    func range(_ outcome: AnswerFacts.Outcome, failures: Int) -> ClosedRange<Double> {
      waits(after: AnswerFacts(outcome)) { $0.failures = failures }.range
    }
    #expect(range(.refused(500), failures: 0).upperBound <= Self.hour + 60)
    #expect(range(.refused(500), failures: 6).upperBound > Self.hour + 3000)
    for failures in [20, 100, 10_000] {
      let server = range(.refused(500), failures: failures)
      #expect(
        server.lowerBound >= Self.hour && server.upperBound <= 5 * Self.hour && server.upperBound > 4.5 * Self.hour)
      let client = range(.refused(404), failures: failures)
      #expect(client.upperBound <= 25 * Self.hour && client.upperBound > 20 * Self.hour)
      #expect(client.lowerBound < 3 * Self.hour)
    }
    // A failed attempt to connect doesn't burden the server.
    let unreached = range(.noAnswer(wasAsked: false), failures: 0)
    #expect(unreached.lowerBound >= 10 && unreached.upperBound <= 70)
    #expect(range(.noAnswer(wasAsked: true), failures: 0).lowerBound >= Self.hour)
  }

  @Test func `a success resets the failures, and a feed that is gone is never due`() {
    var health = FeedHealth(address: address)
    for _ in 0..<5 { health.note(AnswerFacts(.refused(500)), "500", now: noon) }
    #expect(health.failures == 5 && health.outcome == "500")
    health.note(AnswerFacts(.unchanged), "304", now: noon)
    #expect(health.failures == 0 && health.succeeded == noon)
    health.note(AnswerFacts(.refused(410)), "410", now: noon)
    var random = SeededGenerator(seed: 1)
    let due = Schedule(every: .seconds(60)).due(after: AnswerFacts(.refused(410)), health, now: noon, using: &random)
    #expect(due.date == nil && due.rule == .gone && health.isGone)
    health.note(AnswerFacts(.changed), "200", now: noon)
    #expect(!health.isGone)
  }

  @Test func `a saved due time is used only for its interval, except for what the server wants`() {
    var health = FeedHealth(address: address)
    var random = SeededGenerator(seed: 1)
    #expect(Schedule(every: .seconds(60)).due(health, using: &random) == .distantPast)
    health.asked = noon
    health.due = noon + 5000
    health.interval = 3600
    #expect(Schedule(every: .seconds(3600)).due(health, using: &random) == noon + 5000)
    #expect(Schedule(every: .seconds(60)).due(health, using: &random)! < noon + 67)
    health.notBefore = noon + 1000
    #expect(Schedule(every: .seconds(60)).due(health, using: &random) == noon + 1000)
    health.isGone = true
    #expect(Schedule(every: .seconds(60)).due(health, using: &random) == nil)
  }

  // MARK: Moves

  @Test func `a permanent redirect becomes the feed's URL after seven days without interruption`() {
    var health = FeedHealth(address: address)
    func answer(_ target: URL?, days: Double, _ outcome: AnswerFacts.Outcome = .unchanged) {
      health.note(AnswerFacts(outcome, movedTo: target), "", now: noon + days * Self.day)
    }
    for days in 0...6 { answer(otherAddress, days: Double(days)) }
    #expect(health.requestAddress == address)
    answer(otherAddress, days: 7)
    #expect(health.requestAddress == otherAddress)
    // From now on, the new URL is requested directly.
    answer(nil, days: 8)
    #expect(health.requestAddress == otherAddress)
    for days in 9..<12 { answer(nil, days: Double(days), .refused(404)) }
    #expect(health.requestAddress == address && health.move == nil)
  }

  @Test func `a response from the old URL, or another target, restarts the seven days`() {
    var health = FeedHealth(address: address)
    let third = URL(string: "https://example.com/third")!
    for (day, target) in [otherAddress, nil, otherAddress, third, otherAddress].enumerated() {
      health.note(AnswerFacts(.unchanged, movedTo: target), "", now: noon + Double(day) * Self.day)
    }
    #expect(health.move == FeedHealth.Move(to: otherAddress, since: noon + 4 * Self.day))
  }

  @Test func `a network's login page never becomes the feed's URL`() {
    var health = FeedHealth(address: address)
    for day in 0..<30 {
      health.note(AnswerFacts(.notAFeed, movedTo: otherAddress), "", now: noon + Double(day) * Self.day)
    }
    #expect(health.requestAddress == address)
  }

  @Test func `a redirect to the same URL over https is adopted immediately, and another host's isn't`() {
    for (target, isBelieved) in [
      ("https://example.com/a?b", true), ("https://www.example.com/a?b", false), ("https://example.com/c", false),
    ] {
      var health = FeedHealth(address: URL(string: "http://example.com/a?b")!)
      health.note(AnswerFacts(.changed, movedTo: URL(string: target)!), "", now: noon)
      #expect((health.requestAddress.absoluteString == target) == isBelieved)
    }
  }

  @Test func `a hub and a moved feed's URL count as private only if a private network named them`() {
    func health(_ isPrivate: Bool?) -> FeedHealth {
      var (health, facts) = (FeedHealth(address: address), AnswerFacts(.unchanged, movedTo: otherAddress))
      facts.hub = HubLink(hub: otherAddress, topic: address)
      facts.isFromPrivateNetwork = isPrivate
      health.note(facts, "", now: noon)
      return health
    }
    #expect(health(true).hub?.isFromPrivateNetwork == true && health(true).move?.isFromPrivateNetwork == true)
    for isPrivate in [false, nil] {
      #expect(health(isPrivate).hub == HubLink(hub: otherAddress, topic: address))
      #expect(health(isPrivate).move == FeedHealth.Move(to: otherAddress, since: noon))
    }
  }

  @Test func `a saved due time is adapted to a new interval, with its reason`() {
    var random = SeededGenerator(seed: 1)
    func adopted(_ interval: Duration?, _ change: (inout FeedHealth) -> Void = { _ in }) -> FeedHealth {
      var health = FeedHealth(address: address)
      (health.asked, health.due, health.notBefore) = (noon, noon + 60, noon)
      (health.interval, health.rule, health.reason) = (60, .interval, "the interval is 1 minute")
      change(&health)
      Schedule(every: interval).adopt(&health, using: &random)
      return health
    }
    #expect(adopted(.seconds(60)).due == noon + 60)
    let longer = adopted(.seconds(7200))
    #expect(longer.reason == "the interval is 2 hours" && longer.rule == .interval && longer.interval == 7200)
    #expect((noon + 7200...noon + 7920).contains(longer.due!))
    #expect(adopted(nil).rule == .changes)
    // A time set by the server has its own reason.
    let fresh = adopted(.seconds(7200)) {
      ($0.notBefore, $0.due, $0.rule, $0.reason) = (noon + 14_400, noon + 14_400, .freshness, "it is fresh")
    }
    #expect(fresh.due == noon + 14_400 && fresh.reason == "it is fresh")
    #expect(adopted(.seconds(7200)) { $0.isGone = true }.due == nil)
  }

  @Test func `without a lease, the due time of a feed whose hub announced changes is adapted to the interval`() {
    var random = SeededGenerator(seed: 1)
    var health = FeedHealth(address: address)
    (health.asked, health.due, health.notBefore) = (noon, noon + 80_000, noon)
    (health.interval, health.rule, health.reason) = (3600, .pushed, "its hub announces changes")
    var schedule = Schedule(every: .seconds(3600))
    schedule.isPushed = true
    let before = health
    schedule.adopt(&health, using: &random)
    #expect(health == before)
    schedule.isPushed = false
    schedule.adopt(&health, using: &random)
    #expect((noon + 3600...noon + 3960).contains(health.due!))
    #expect(health.rule == .interval && health.reason == "the interval is 1 hour")
  }

  @Test func `when a clock was ahead, the beginning of a move and the end of a lease are corrected, too`() throws {
    var health = FeedHealth(address: address)
    (health.asked, health.due) = (noon + 86_400, noon + 90_000)
    health.move = FeedHealth.Move(to: address, since: noon + 80_000)
    health.push = PushLease(link: HubLink(hub: address, topic: address), path: "1", secret: "2")
    health.push?.until = noon + 100_000
    health.correctClock(now: noon)
    #expect(health.due == noon + 3600 && health.push?.until == noon + 13_600)
    #expect(try #require(health.move).since == noon - 6400)
  }
}
