import FeedFleet
import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

/// The behavior of every engine.
@Suite(.settled, .timeLimit(.minutes(5))) struct WorkQueueSpecification {
  private let a = URL(feed: 1)
  private let b = URL(feed: 2)
  private let other = URL(feed: 1, host: "b.example")

  @Test(arguments: Engine.allCases) func `a host is leased to one worker at a time`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a, b, other]) { fleet in
      let first = try fleet.claim()
      #expect(Set(first.map(\.host)) == ["a.example", "b.example"])
      #expect(try fleet.claim(worker: "another") == [])
      let lease = try #require(first.first { $0.host == "a.example" })
      #expect(lease.address == a && lease.version == nil)
      #expect(try fleet.wait(fleet.queue.complete(lease.completion("one"))) != .lost)
      let next = try fleet.claim(worker: "another")
      #expect(next.map(\.address) == [b])
    }
  }

  @Test(arguments: Engine.allCases) func `a completion saves the feed, appends the update and sets the due time`(
    _ engine: Engine
  ) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let start = try fleet.wait(fleet.log.end())
      let lease = try #require(try fleet.claim().first)
      guard case .accepted(let cursor?) = try fleet.wait(fleet.queue.complete(lease.completion("one", at: 5))) else {
        Issue.record("not accepted with an update")
        return
      }
      let feed = try #require(try fleet.feed(a))
      #expect(feed.version == FeedVersion(microseconds: 5_000_000))
      #expect(feed.images?.map(\.description) == ["one"])
      #expect(feed.record.health.outcome == "one")
      let update = try fleet.wait(fleet.log.updates(after: start).first().eraseToAnyPublisher())
      let saved = FeedUpdate(address: a, version: feed.version!)
      #expect(update == LoggedUpdate(cursor: cursor, update: saved, previous: start))
      #expect(try fleet.claim() == [])
    }
  }

  @Test(arguments: Engine.allCases) func `the trace of a poll, or of an appended update, is in the log`(
    _ engine: Engine
  ) throws {
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    try withFleet(engine, adding: [a]) { fleet in
      let start = try fleet.wait(fleet.log.end())
      let lease = try #require(try fleet.claim().first)
      var completion = lease.completion("one", at: 5)
      completion.trace = trace
      _ = try fleet.wait(fleet.queue.complete(completion))
      let version = FeedVersion(microseconds: 6_000_000)
      for trace in [nil, "other"] {
        _ = try fleet.wait(fleet.log.append(FeedUpdate(address: a, version: version, trace: trace)))
      }
      let updates = try fleet.wait(fleet.log.updates(after: start).prefix(3).collect().eraseToAnyPublisher())
      #expect(updates.map(\.update.trace) == [trace, nil, "other"])
      #expect(try fleet.wait(fleet.log.latest(3)).map(\.update.trace) == [trace, nil, "other"])
    }
  }

  @Test(arguments: Engine.allCases) func `a dead worker's host is available again when the lease expires`(
    _ engine: Engine
  ) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let dead = try #require(try fleet.claim(lease: .seconds(10)).first)
      #expect(try fleet.claim() == [])
      try fleet.pass(.seconds(11))
      let alive = try #require(try fleet.claim(worker: "another").first)
      #expect(alive.nonce != dead.nonce)
      // The first worker's completion is too late, and none of it is written.
      #expect(try fleet.wait(fleet.queue.complete(dead.completion("late", at: 9))) == .lost)
      #expect(try fleet.wait(fleet.queue.extend(dead, by: .seconds(60))) == false)
      #expect(try fleet.feed(a) == nil)
      #expect(try fleet.wait(fleet.queue.complete(alive.completion("right", at: 8))) != .lost)
      #expect(try fleet.feed(a)?.images?.first?.description == "right")
    }
  }

  @Test(arguments: Engine.allCases) func `extending a lease keeps the host`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let lease = try #require(try fleet.claim(lease: .seconds(30)).first)
      #expect(try fleet.wait(fleet.queue.extend(lease, by: .seconds(60))))
      try fleet.pass(.seconds(35))
      #expect(try fleet.claim() == [])
      #expect(try fleet.wait(fleet.queue.complete(lease.completion("one"))) != .lost)
    }
  }

  @Test(arguments: Engine.allCases) func `a repeated completion is applied once`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let start = try fleet.wait(fleet.log.end())
      let completion = try #require(try fleet.claim().first).completion("one", due: Date() - 1)
      let first = try fleet.wait(fleet.queue.complete(completion))
      let another = try #require(try fleet.claim().first)
      #expect(try fleet.wait(fleet.queue.complete(completion)) == first)
      // The other worker's lease was not affected.
      #expect(try fleet.wait(fleet.queue.complete(another.completion("two", at: 2000))) != .lost)
      let updates = try fleet.wait(fleet.log.updates(after: start).prefix(2).collect().eraseToAnyPublisher())
      #expect(updates.map(\.update.version.microseconds) == [1_000_000_000, 2_000_000_000])
    }
  }

  @Test(arguments: Engine.allCases) func `an older version never replaces a newer one`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      for (name, seconds, isTaken) in [("one", 10.0, true), ("old", 9, false), ("same", 10, false), ("new", 11, true)] {
        let lease = try #require(try fleet.claim().first)
        let verdict = try fleet.wait(fleet.queue.complete(lease.completion(name, at: seconds, due: Date() - 1)))
        #expect((verdict == .superseded) == !isTaken, "\(name)")
      }
      #expect(try fleet.feed(a)?.images?.first?.description == "new")
    }
  }

  @Test(arguments: Engine.allCases) func `after a completion, the host isn't leased during its gap`(_ engine: Engine)
    throws
  {
    try withFleet(engine, adding: [a, b]) { fleet in
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion("one", gap: .seconds(30))))
      #expect(try fleet.claim() == [])
      try fleet.pass(.seconds(35))
      #expect(try fleet.claim().map(\.address) == [b])
    }
  }

  @Test(arguments: Engine.allCases) func `a pause requested by a host applies to all of its feeds`(_ engine: Engine)
    throws
  {
    try withFleet(engine, adding: [a, b, other]) { fleet in
      let lease = try #require(try fleet.claim(1).first { $0.host == "a.example" } ?? fleet.claim(1).first)
      try #require(lease.host == "a.example")
      let until = Date() + 30
      _ = try fleet.wait(fleet.queue.complete(lease.completion(due: Date() - 1, pausedUntil: until)))
      #expect(try fleet.claim().allSatisfy { $0.host == "b.example" })
      try fleet.pass(.seconds(35))
      #expect(try fleet.claim().map(\.host) == ["a.example"])
    }
  }

  @Test(arguments: Engine.allCases) func `a pause doesn't shorten a longer one`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a, b]) { fleet in
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion(due: Date() - 1, pausedUntil: Date() + 60)))
      try fleet.wait(fleet.queue.pause("a.example", for: .milliseconds(1), because: "short"))
      try fleet.pass(.seconds(30))
      #expect(try fleet.claim() == [])
      try fleet.pass(.seconds(35))
      #expect(try fleet.claim().map(\.host) == ["a.example"])
    }
  }

  @Test(arguments: Engine.allCases) func `a user can pause and resume a host`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a, other]) { fleet in
      try fleet.wait(fleet.queue.pause("a.example", for: nil, because: "moving"))
      #expect(try fleet.claim().map(\.host) == ["b.example"])
      #expect(try fleet.wait(fleet.queue.resume("a.example")))
      #expect(try fleet.wait(fleet.queue.resume("a.example")) == false)
      #expect(try fleet.claim().map(\.host) == ["a.example"])
    }
  }

  @Test(arguments: Engine.allCases) func `a host paused during a lease isn't leased again afterwards`(_ engine: Engine)
    throws
  {
    try withFleet(engine, adding: [a]) { fleet in
      #expect(try fleet.claim(lease: .seconds(5)).count == 1)
      try fleet.wait(fleet.queue.pause("a.example", for: nil, because: "moving"))
      try fleet.pass(.seconds(6))
      #expect(try fleet.claim(worker: "another") == [])
      #expect(try fleet.wait(fleet.queue.resume("a.example")))
      #expect(try fleet.claim(worker: "another").map(\.host) == ["a.example"])
    }
  }

  @Test(arguments: Engine.allCases) func `a host's gap applies even when its feeds are added and removed`(
    _ engine: Engine
  ) throws {
    let queues = (1...5).map { URL(feed: $0) }
    try withFleet(engine, adding: queues) { fleet in
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion("one", gap: .seconds(60))))
      #expect(try fleet.wait(fleet.queue.add([NewFeed(URL(feed: 9))])) == 1)
      try fleet.pass(.milliseconds(2))
      #expect(try fleet.claim() == [], "after an addition")
      #expect(try fleet.wait(fleet.queue.remove(queues[2])))
      #expect(try fleet.claim() == [], "after a removal")
      try fleet.wait(fleet.queue.pause("a.example", for: .milliseconds(1), because: "short"))
      try fleet.pass(.milliseconds(5))
      #expect(try fleet.claim() == [], "after a pause")
      try fleet.wait(fleet.queue.pause("a.example", for: nil, because: "long"))
      #expect(try fleet.wait(fleet.queue.resume("a.example")))
      #expect(try fleet.claim() == [], "after the end of a pause")
      for feed in queues + [URL(feed: 9)] { _ = try fleet.wait(fleet.queue.remove(feed)) }
      #expect(try fleet.wait(fleet.queue.add([NewFeed(a)])) == 1)
      try fleet.pass(.milliseconds(2))
      #expect(try fleet.claim() == [], "as another host of that name")
    }
  }

  @Test(arguments: Engine.allCases) func `a host reached by a redirect is leased by one worker at a time too`(
    _ engine: Engine
  ) throws {
    try withFleet(engine, adding: [a, other]) { fleet in
      let queue = fleet.queue
      func visit(_ lease: WorkLease, _ host: String = "b.example") throws -> WorkVisit {
        try fleet.wait(queue.visit(host, with: lease, by: "w", for: .seconds(60)))
      }
      let leases = try fleet.claim()
      let (mine, its) = try (
        #require(leases.first { $0.address == a }), #require(leases.first { $0.address == other })
      )
      guard case .busy(let duration) = try visit(mine) else {
        Issue.record("a leased host was visited")
        return
      }
      #expect(duration > .seconds(50) && duration <= .seconds(60))
      _ = try fleet.wait(queue.complete(its.completion("one", due: Date() - 1)))
      #expect(try visit(mine) == .granted)
      // The request is repeated, because its reply was lost.
      #expect(try visit(mine) == .granted)
      #expect(try fleet.claim(worker: "another") == [])
      try fleet.wait(queue.endVisit(of: "b.example", with: its, gap: .zero, pause: nil))
      #expect(try fleet.claim(worker: "another") == [], "another's visit was ended")
      try fleet.wait(queue.endVisit(of: "b.example", with: mine, gap: .seconds(60), pause: nil))
      #expect(try fleet.claim(worker: "another") == [])
      guard case .busy = try visit(mine) else {
        Issue.record("a resting host was visited")
        return
      }
      try fleet.wait(queue.pause("c.example", for: nil, because: "quiet"))
      #expect(try visit(mine, "c.example") == .paused(until: nil, reason: "quiet"))
      // A host without feeds is forgotten after its lease, and never granted.
      #expect(try visit(mine, "d.example") == .granted)
      try fleet.wait(queue.endVisit(of: "d.example", with: mine, gap: .zero, pause: nil))
      #expect(try fleet.claim(worker: "another") == [])
    }
  }

  @Test(arguments: Engine.allCases) func `a pause that a visited host requests applies to its own feeds`(
    _ engine: Engine
  ) throws {
    try withFleet(engine, adding: [a, other]) { fleet in
      let leases = try fleet.claim()
      let mine = try #require(leases.first { $0.address == a })
      let its = try #require(leases.first { $0.address == other })
      var paced = its.completion("one", due: Date() - 1)
      paced.pace = HostPace()
      paced.pace?.gap = 5
      _ = try fleet.wait(fleet.queue.complete(paced))
      #expect(try fleet.wait(fleet.queue.visit("b.example", with: mine, by: "w", for: .seconds(60))) == .granted)
      try fleet.wait(fleet.queue.endVisit(of: "b.example", with: mine, gap: .zero, pause: nil))
      #expect(try fleet.claim() == [], "its pace is five seconds")
      try fleet.pass(.seconds(6))
      #expect(try fleet.wait(fleet.queue.visit("b.example", with: mine, by: "w", for: .seconds(60))) == .granted)
      let pause = HostPause(until: Date() + 30, because: "it is busy")
      try fleet.wait(fleet.queue.endVisit(of: "b.example", with: mine, gap: .zero, pause: pause))
      try fleet.pass(.seconds(10))
      #expect(try fleet.claim() == [], "it is paused")
      try fleet.pass(.seconds(30))
      #expect(try fleet.claim().map(\.host) == ["b.example"])
    }
  }

  @Test(arguments: Engine.allCases) func `a removed feed's result still pauses its host`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a, b]) { fleet in
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.remove(lease.address))
      #expect(try fleet.wait(fleet.queue.complete(lease.completion(pausedUntil: Date() + 30))) == .lost)
      try fleet.pass(.seconds(10))
      #expect(try fleet.claim() == [])
      try fleet.pass(.seconds(30))
      #expect(try fleet.claim().map(\.host) == ["a.example"])
    }
  }

  @Test(arguments: Engine.allCases) func `a feed that moved is polled at its new host`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion("one", due: Date() - 1, host: "new.example")))
      let moved = try #require(try fleet.claim().first)
      #expect(moved.host == "new.example" && moved.address == a && moved.version != nil)
      #expect(try fleet.wait(fleet.queue.add([NewFeed(a)])) == 0)
      _ = try fleet.wait(fleet.queue.complete(moved.completion("two", at: 2000)))
      #expect(try fleet.wait(fleet.queue.remove(a)))
      #expect(try fleet.wait(fleet.queue.remove(a)) == false)
    }
  }

  @Test(arguments: Engine.allCases) func `a feed removed during its lease stays removed`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let lease = try #require(try fleet.claim().first)
      #expect(try fleet.wait(fleet.queue.remove(a)))
      #expect(try fleet.wait(fleet.queue.complete(lease.completion("one"))) == .lost)
      #expect(try fleet.feed(a) == nil)
      #expect(try fleet.claim() == [])
    }
  }

  @Test(arguments: Engine.allCases) func `a feed that is gone (410) isn't polled again`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion(due: nil)))
      let grant = try fleet.wait(fleet.queue.claim(WorkClaim(worker: "w", count: 1, lease: .seconds(1))))
      #expect(grant.leases == [] && grant.next == nil)
    }
  }

  @Test(arguments: Engine.allCases) func `a reader of updates continues where it stopped, and detects missing entries`(
    _ engine: Engine
  ) throws {
    try withFleet(engine, adding: [a]) { fleet in
      let start = try fleet.wait(fleet.log.end())
      #expect(try fleet.wait(fleet.log.holds(start)))
      let cursors = try (1...3).map { number in
        try fleet.wait(fleet.log.append(FeedUpdate(address: a, version: FeedVersion(microseconds: Int64(number)))))
      }
      #expect(try fleet.wait(fleet.log.end()) == cursors[2])
      for cursor in cursors { #expect(try fleet.wait(fleet.log.holds(cursor))) }
      let rest = try fleet.wait(fleet.log.updates(after: cursors[0]).prefix(2).collect().eraseToAnyPublisher())
      #expect(rest.map(\.previous) == [cursors[0], cursors[1]])
      #expect(rest.map(\.cursor) == [cursors[1], cursors[2]])
      // The cursor is ahead of the log, which was rolled back.
      #expect(try fleet.wait(fleet.log.holds(UpdateCursor("99999999999999-0"))) == false)
      // After trimming, earlier cursors are lost.
      try fleet.trim(to: 1)
      #expect(try fleet.wait(fleet.log.holds(cursors[0])) == false)
      #expect(try fleet.wait(fleet.log.holds(cursors[2])))
    }
  }

  @Test(arguments: Engine.allCases) func `the latest updates are delivered in order`(_ engine: Engine) throws {
    try withFleet(engine, adding: [a]) { fleet in
      #expect(try fleet.wait(fleet.log.latest(5)) == [])
      let cursors = try (1...3).map { number in
        try fleet.wait(fleet.log.append(FeedUpdate(address: a, version: FeedVersion(microseconds: Int64(number)))))
      }
      #expect(try fleet.wait(fleet.log.latest(2)).map(\.cursor) == Array(cursors.suffix(2)))
      #expect(Set(cursors).count == 3)
    }
  }

  // MARK: The library

  @Test(arguments: Engine.allCases) func `the library delivers saved feeds in the requested order`(_ engine: Engine)
    throws
  {
    try withFleet(engine, adding: [a, other]) { fleet in
      for lease in try fleet.claim() where lease.address == a {
        _ = try fleet.wait(fleet.queue.complete(lease.completion("one", at: 5)))
      }
      let feeds = try fleet.wait(fleet.library.feeds([other, a, b, a], withImages: true))
      #expect(feeds.map { $0?.images?.first?.description } == [nil, "one", nil, "one"])
      let heads = try fleet.wait(fleet.library.feeds([a], withImages: false))
      #expect(heads[0]?.version == FeedVersion(microseconds: 5_000_000))
      #expect(heads[0]?.record.health.outcome == "one")
      #expect(try fleet.wait(fleet.library.feeds([], withImages: true)).isEmpty)
    }
  }

  @Test(arguments: Engine.allCases) func `the library's first feeds are the same for every reader`(_ engine: Engine)
    throws
  {
    let many = (0..<900).map { URL(feed: $0, host: "h\($0 % 300).example") }
    try withFleet(engine, adding: many.shuffled()) { fleet in
      let sorted = many.map { ($0.host()!, $0.absoluteString) }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.1)
      for count in [1, 10, 400, 2000] {
        let first = try fleet.wait(fleet.library.first(count))
        #expect(first.map(\.absoluteString) == Array(sorted.prefix(count)), "\(count)")
      }
    }
  }

  @Test(arguments: Engine.allCases) func `each change of the list changes the library's edition`(_ engine: Engine)
    throws
  {
    try withFleet(engine, adding: [a]) { fleet in
      var names = [try fleet.wait(fleet.library.edition())]
      func note() throws { names.append(try fleet.wait(fleet.library.edition())) }
      #expect(try fleet.wait(fleet.queue.add([NewFeed(a)])) == 0)
      let lease = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion("one", due: Date() - 1)))
      try note()
      #expect(names[0] == names[1], "nothing was added")
      #expect(try fleet.wait(fleet.queue.add([NewFeed(b)])) == 1)
      try note()
      #expect(try fleet.wait(fleet.queue.remove(b)))
      try note()
      let moving = try #require(try fleet.claim().first)
      _ = try fleet.wait(fleet.queue.complete(moving.completion("two", at: 2000, host: "new.example")))
      try note()
      #expect(Set(names).count == 4, "\(names)")
    }
  }

  @Test(arguments: Engine.allCases) func `the library lists every feed once, even one that moved`(_ engine: Engine)
    throws
  {
    let many = (0..<1500).map { URL(feed: $0, host: "h\($0 % 300).example") }
    try withFleet(engine) { fleet in
      func all() throws -> [URL] {
        try fleet.wait(fleet.library.addresses().reduce([]) { $0 + $1 }.eraseToAnyPublisher())
      }
      #expect(try fleet.wait(fleet.queue.add(many.map { NewFeed($0) })) == 1500)
      let listed = try all()
      #expect(listed.count == 1500 && Set(listed) == Set(many))
      try fleet.pass(.milliseconds(5))
      let lease = try #require(try fleet.claim(1).first)
      _ = try fleet.wait(fleet.queue.complete(lease.completion("one", host: "new.example")))
      #expect(try fleet.wait(fleet.queue.remove(many[7])))
      let rest = try all()
      #expect(rest.count == 1499 && Set(rest) == Set(many).subtracting([many[7]]))
    }
  }
}
