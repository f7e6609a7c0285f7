import FeedPolling
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import FeedPolling

/// The pace that is learned from a host's refusals.
@Suite(.settled) struct HostPaceTests {
  /// A host that accepts one request per `limit` seconds, and a client that follows the learned pace.
  private struct Host {
    var limit: Double
    var pace: HostPace?
    var time = noon
    private var opens = Date.distantPast
    private(set) var refusals = 0

    init(limit: Double) { self.limit = limit }

    mutating func request(saysPause: Bool) {
      let isTaken = time >= opens
      var facts = AnswerFacts(isTaken ? .unchanged : .refused(429))
      if isTaken { opens = time + limit } else { refusals += 1 }
      if !isTaken, saysPause { facts.retryAfter = .seconds(opens.timeIntervalSince(time).rounded(.up)) }
      let asked = time
      time += 0.1
      pace = .after(pace, facts, asked: asked, isRepeated: false, usual: 1, now: time)
      time += max(1, pace?.rest ?? 0, isTaken ? 0 : facts.pause.seconds)
    }
  }

  @Test(arguments: [2.0, 10, 61, 300, 1500], [true, false])
  func `a host's pace is found with few refusals, and then kept`(limit: Double, saysPause: Bool) throws {
    var host = Host(limit: limit)
    while host.time < noon + 3 * 86_400 { host.request(saysPause: saysPause) }
    let found = try #require(host.pace?.gap)
    // The host names no pause, and an attempt takes most of an hour, so the client keeps the accepted pace.
    let most = limit > 1000 && !saysPause ? 1.7 : 1.12
    #expect(found > limit * 0.95 && found < limit * most, "\(found) for \(limit)")
    #expect(host.refusals <= 8)
    let before = host.refusals
    while host.time < noon + (limit < 60 ? 5 : 365) * 86_400 { host.request(saysPause: saysPause) }
    #expect(host.refusals == before, "a pace that was refused twice is not tried again within a year")
  }

  @Test func `a host that allows more requests again isn't slowed for long`() throws {
    var host = Host(limit: 300)
    for _ in 0..<100 { host.request(saysPause: true) }
    #expect(try #require(host.pace?.gap) > 290)
    (host.limit, host.time) = (0, host.time + 86_400 * 1.01)
    let start = host.time
    while host.pace?.gap ?? 0 > 61 { host.request(saysPause: true) }
    #expect(host.time < start + 3 * 3600)
    while host.pace?.gap != nil { host.request(saysPause: true) }
    #expect(host.time < start + 12 * 3600)
    while host.pace != nil, host.time < start + 5 * 86_400 { host.request(saysPause: true) }
    #expect(host.pace == nil, "nothing is left to remember")
  }

  @Test func `a host that never refuses has no pace`() {
    let pace = HostPace.after(nil, AnswerFacts(.changed), asked: noon, isRepeated: false, usual: 1, now: noon)
    #expect(pace == nil)
  }

  @Test func `a refusal an hour after the previous request doesn't change the pace`() throws {
    let refused = AnswerFacts(.refused(429))
    var pace = HostPace.after(nil, refused, asked: noon, isRepeated: false, usual: 1, now: noon)
    for hour in 1...10 {
      let time = noon + Double(hour) * 3600
      pace = .after(pace, refused, asked: time, isRepeated: true, usual: 1, now: time)
    }
    #expect(pace?.gap == 4 && pace?.refusals == 11)
  }

  @Test func `a challenge slows its host, except for a feed that is always challenged`() {
    let challenged = AnswerFacts(.challenged(403))
    #expect(HostPace.after(nil, challenged, asked: noon, isRepeated: true, usual: 1, now: noon) == nil)
    #expect(HostPace.after(nil, challenged, asked: noon, isRepeated: false, usual: 1, now: noon)?.gap == 4)
    #expect(HostPace.after(nil, AnswerFacts(.refused(503)), asked: noon, isRepeated: false, usual: 1, now: noon) == nil)
    #expect(HostPace.after(nil, AnswerFacts(.refused(403)), asked: noon, isRepeated: false, usual: 1, now: noon) == nil)
  }

  @Test func `when a quota is nearly used up, the remaining requests are spread`() {
    var facts = AnswerFacts(.changed)
    facts.quota = RequestQuota(remaining: 5, resetsAfter: 100, limit: 60, window: 3600)
    let pace = HostPace.after(nil, facts, asked: noon, isRepeated: false, usual: 1, now: noon)
    #expect(pace?.rest == 20)
    #expect(
      pace?.words(for: "a.example") == [
        "a.example says that it allows 60 requests in 1 hour, and that 5 were left for the next 100 seconds (RateLimit)"
      ])
  }

  @Test func `a pace survives encoding as text and as a note, and invalid ones are ignored`() throws {
    var host = Host(limit: 61)
    for _ in 0..<20 { host.request(saysPause: true) }
    var health = HostHealth(name: "a.example")
    health.pace = host.pace
    health.pace?.wasAttempt = false
    health.pace?.quota = RequestQuota(remaining: 5, resetsAfter: 100, limit: 60, window: 3600)
    health.pace?.quotaAt = noon
    let pace = try #require(health.pace)
    #expect(HostPace(pace.text) == pace)
    #expect(health.stored.withUnsafeBytes { HostHealth(stored: $0) } == health)
    #expect(pace.words(for: "a.example")[0].hasPrefix("a.example gets one request every 6"))
    for text in ["", "{", "{}", "{\"g\":-5,\"r\":1,\"n\":0,\"c\":false}", "{\"g\":1e300,\"r\":1,\"n\":0,\"c\":false}"] {
      #expect(HostPace(text)?.gap ?? 1 <= HostPace.longest && HostPace(text)?.gap ?? 1 > 0)
    }
    health.pace?.quota = RequestQuota(remaining: 1e300, resetsAfter: .infinity, limit: .nan, window: -1)
    let damaged = try #require(health.stored.withUnsafeBytes { HostHealth(stored: $0) }?.pace)
    #expect(damaged.quota == RequestQuota(remaining: 1e15, resetsAfter: 0, limit: 0, window: 0))
    #expect(damaged.words(for: "a.example").count == 2)
  }

  @Test(arguments: ["1e300", "-1"]) func `a damaged quota is shown as a number of requests`(number: String) throws {
    let quota = "{\"remaining\":\(number),\"resetsAfter\":\(number),\"limit\":\(number),\"window\":\(number)}"
    let pace = try #require(HostPace("{\"q\":\(quota),\"qa\":\(number),\"r\":1,\"n\":0,\"c\":false}"))
    #expect(pace.words(for: "a.example").count == 1 && pace.rest <= HostPace.longest)
    #expect(pace.quotaAt ?? noon < noon + 86_400)
  }
}
