import FeedRedis
import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import FeedPolling

/// A fleet's time continues evenly, even if its engine's clock is set.
@Suite(.settled, .timeLimit(.minutes(5))) struct FleetTimeTests {
  private let a = URL(feed: 1)
  private let other = URL(feed: 1, host: "b.example")

  @Test(arguments: Engine.allCases, [-86_400.0, -60, 60, 86_400])
  func `setting the engine's clock changes no lease and no due time`(_ engine: Engine, _ seconds: Double) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let lease = try #require(try fleet.claim(lease: .seconds(45)).first)
      #expect(try fleet.wait(fleet.queue.add([NewFeed(other, after: .seconds(30))])) == 1)
      let before = try fleet.wait(fleet.queue.claim(WorkClaim(worker: "w", count: 1, lease: .seconds(1)))).now
      try fleet.setClock(by: .seconds(seconds))
      let grant = try fleet.wait(fleet.queue.claim(WorkClaim(worker: "another", count: 9, lease: .seconds(45))))
      #expect(grant.leases == [], "a host that is taken, and one that is not due")
      #expect(abs(grant.now.timeIntervalSince(before)) < 10)
      #expect(try fleet.wait(fleet.queue.complete(lease.completion("one", due: grant.now + 5))) != .lost)
      try fleet.pass(.seconds(6))
      #expect(try fleet.claim().map(\.address) == [a], "a due time after the clock was set")
      try fleet.pass(.seconds(30))
      #expect(try fleet.claim().map(\.address) == [other], "a due time from before")
    }
  }

  @Test(arguments: Engine.allCases)
  func `after an engine pauses, its leases are extended`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let lease = try #require(try fleet.claim(lease: .seconds(45)).first)
      // For the fleet's users, a second has passed, because their calls were in transit.
      try fleet.setClock(by: .seconds(300))
      #expect(try fleet.claim(worker: "another") == [])
      #expect(try fleet.wait(fleet.queue.extend(lease, by: .seconds(45))))
    }
  }

  @Test(arguments: Engine.allCases) func `a version from the future is replaced by a current one`(_ engine: Engine)
    throws
  {
    try withFleet(engine, adding: [a]) { fleet in
      let now = Date().timeIntervalSince1970
      for (name, seconds, isTaken) in [
        ("tomorrow", now + 86_400, true), ("now", now, true), ("earlier", now - 9, false),
      ] {
        let lease = try #require(try fleet.claim().first)
        let completion = lease.completion(name, at: seconds, due: Date() - 1)
        #expect((try fleet.wait(fleet.queue.complete(completion)) != .superseded) == isTaken, "\(name)")
      }
      #expect(try fleet.feed(a)?.images?.first?.description == "now")
    }
  }

  @Test(arguments: Engine.allCases) func `an unused fleet adopts its engine's clock`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      #expect(try fleet.wait(fleet.queue.add([NewFeed(other, after: .seconds(3600))])) == 1)
      try fleet.pass(.seconds(3601))
      #expect(try fleet.claim().count == 2)
    }
  }

  @Test func `the log is trimmed even if the server's clock was ahead before`() throws {
    try withFleet(.redis, adding: [a]) { fleet in
      let server = try #require(fleet.server)
      let lease = try #require(try fleet.claim().first)
      try server.cli(
        "EVAL",
        """
        redis.call('XADD', KEYS[1], '9999999999999-0', 'a', 'x', 'v', '1')
        for _ = 1, 101000 do redis.call('XADD', KEYS[1], '*', 'a', 'x', 'v', '1') end
        return 1
        """, "1", "fs{0}:updates")
      _ = try fleet.wait(fleet.queue.complete(lease.completion("one")))
      let count = try #require(Int(try server.cli("XLEN", "fs{0}:updates")))
      #expect((100_000...100_200).contains(count), "whole nodes of a hundred entries are trimmed")
    }
  }

  @Test func `the fleet's time approaches a changed clock by a tenth of the elapsed time`() {
    var time = FleetTime(clock: 1_000_000, raw: 1_000_000)
    func advance(_ seconds: Double, clockSetBy step: Double = 0) -> Double {
      let before = time
      time.advance(
        to: before.raw + (seconds + step) * 1000, .init(told: before.clock, since: seconds * 1000), isIdle: false)
      return (time.clock - before.clock) / 1000
    }
    #expect(advance(1) == 1)
    #expect(advance(1, clockSetBy: 60) == 1.1)
    #expect(advance(100) == 110)
    for _ in 0..<10 { _ = advance(100) }
    #expect(time.clock == time.raw && advance(1) == 1)
    #expect(advance(1, clockSetBy: -60) == 0.9)
    #expect(advance(100) == 90 && time.clock > time.raw)
    for _ in 0..<10 { _ = advance(100) }
    #expect(time.clock == time.raw)
    // Without a user's sight to compare with, a jump of the engine's clock counts as elapsed time; with one, it
    // doesn't.
    for (isIdle, sight, expected) in [(true, nil, 5000.0), (false, nil, 5000), (true, .init(told: 0, since: 0), 0)]
      as [(Bool, FleetTime.Sight?, Double)]
    {
      var time = FleetTime(clock: 1_000_000, raw: 1_000_000)
      time.advance(to: 1_005_000, sight, isIdle: isIdle)
      #expect(time.clock - 1_000_000 == expected)
    }
  }
}
