import Foundation
import TestSupport
import Testing

@testable import FeedPolling

/// The pace of a host, which every worker of a fleet knows.
@Suite(.settled) struct FleetPaceTests {
  private let a = URL(feed: 1)
  private let b = URL(feed: 2)

  private var pace: HostPace {
    var pace = HostPace()
    (pace.gap, pace.refusals) = (61, 2)
    return pace
  }

  @Test(arguments: Engine.allCases) func `a worker that takes over a host gets its pace`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a, b]) { fleet in
      let lease = try #require(try fleet.claim().first)
      #expect(lease.pace == nil)
      var completion = lease.completion("one", gap: .seconds(61))
      completion.pace = pace
      _ = try fleet.wait(fleet.queue.complete(completion))
      #expect(try fleet.claim(worker: "other") == [])
      try fleet.pass(.seconds(62))
      let next = try #require(try fleet.claim(worker: "other").first)
      #expect(next.address == b && next.pace == pace)
      var last = next.completion("two")
      last.pace = nil
      _ = try fleet.wait(fleet.queue.complete(last))
      try fleet.pass(.seconds(3700))
      #expect(try #require(try fleet.claim().first).pace == nil, "a pace that is over is forgotten")
    }
  }

  @Test(arguments: Engine.allCases) func `after a lost lease, the host's pace still applies`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a, b]) { fleet in
      let lease = try #require(try fleet.claim().first)
      var completion = lease.completion("one", gap: .seconds(1))
      completion.pace = pace
      _ = try fleet.wait(fleet.queue.complete(completion))
      try fleet.pass(.seconds(2))
      #expect(try fleet.claim(lease: .seconds(45)).count == 1)
      try fleet.pass(.seconds(46))
      #expect(try fleet.claim(lease: .seconds(45)) == [], "its request may have been sent 46 seconds ago")
      try fleet.pass(.seconds(17))
      #expect(try fleet.claim(lease: .seconds(45)).count == 1)
    }
  }

  @Test(arguments: Engine.allCases) func `after a lost lease, a visit waits for the rest of the host's pace`(
    _ engine: Engine
  ) throws {
    let other = URL(feed: 3, host: "b.example")
    try withFleet(engine, adding: [a, other]) { fleet in
      let leases = try fleet.claim(lease: .seconds(45))
      let visiting = try #require(leases.first { $0.address == other })
      var completion = try #require(leases.first { $0.address == a }).completion("one", due: Date() - 1)
      completion.pace = pace
      _ = try fleet.wait(fleet.queue.complete(completion))
      #expect(try fleet.claim(lease: .seconds(45), worker: "lost").map(\.address) == [a])
      try fleet.pass(.seconds(46))
      let visit = fleet.queue.visit("a.example", with: visiting, by: "w", for: .seconds(7))
      guard case .busy(let rest) = try fleet.wait(visit) else {
        Issue.record("the host was visited")
        return
      }
      #expect(rest >= .seconds(10) && rest <= .seconds(16))
      let losses =
        if let memory = fleet.queue as? MemoryFleet {
          memory.state.lapses[a]
        } else {
          Int(try fleet.server?.cli("HGET", "fs{0}:lapses", a.absoluteString) ?? "")
        }
      #expect(losses == 1, "a feed that kills workers is delayed")
      try fleet.pass(.seconds(17))
      #expect(try fleet.wait(visit) == .granted)
    }
  }

  @Test(arguments: Engine.allCases) func `after a lost visit, the host's whole pace still applies`(
    _ engine: Engine
  ) throws {
    let other = URL(feed: 3, host: "b.example")
    try withFleet(engine, adding: [a, other]) { fleet in
      let leases = try fleet.claim()
      let visiting = try #require(leases.first { $0.address == other })
      var completion = try #require(leases.first { $0.address == a }).completion("one", due: Date() - 1)
      completion.pace = pace
      _ = try fleet.wait(fleet.queue.complete(completion))
      let visit = fleet.queue.visit("a.example", with: visiting, by: "lost", for: .seconds(7))
      #expect(try fleet.wait(visit) == .granted)
      try fleet.pass(.seconds(8))
      #expect(try fleet.claim(lease: .seconds(45)) == [], "its request may have been sent 8 seconds ago")
      try fleet.pass(.seconds(46))
      #expect(try fleet.claim(lease: .seconds(45)).map(\.host).contains("a.example") == false)
      try fleet.pass(.seconds(17))
      #expect(try fleet.claim(lease: .seconds(45)).map(\.host).contains("a.example"))
    }
  }

  @Test(arguments: Engine.allCases) func `removing a host's last feed forgets its pace`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      var completion = try #require(try fleet.claim().first).completion("one")
      completion.pace = pace
      _ = try fleet.wait(fleet.queue.complete(completion))
      #expect(try fleet.wait(fleet.queue.remove(a)))
      #expect(try fleet.wait(fleet.queue.add([NewFeed(a)])) == 1)
      #expect(try #require(try fleet.claim().first).pace == nil)
    }
  }
}
