import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedPolling
@testable import ImageFeed

/// The order in which feeds are polled.
@Suite(.settled) struct PollQueueTests {
  @Test func `due feeds are started in order, and the queue waits for the next one`() {
    var queue = PollQueue(limit: 10)
    for (host, due) in [("a", 5.0), ("b", 1), ("c", 3)] { queue.add(host: host, due: due) }
    #expect(queue.next(at: 0) == .wait(until: 1))
    #expect(queue.next(at: 3) == .start(1))
    #expect(queue.next(at: 3) == .start(2))
    #expect(queue.next(at: 3) == .wait(until: 5))
  }

  @Test func `a host has one request at a time, with a pause afterwards`() {
    var queue = PollQueue(limit: 10)
    for _ in 0..<3 { queue.add(host: "a", due: 0) }
    #expect(queue.next(at: 0) == .start(0))
    #expect(queue.next(at: 0) == .wait(until: nil))
    queue.ended(0, due: 100, hostOpens: 11)
    #expect(queue.next(at: 10) == .wait(until: 11))
    #expect(queue.next(at: 11) == .start(1))
    queue.ended(1, due: nil, hostOpens: 12)
    #expect(queue.next(at: 12) == .start(2))
    queue.ended(2, due: nil, hostOpens: 13)
    #expect(queue.next(at: 13) == .wait(until: 100))
  }

  @Test func `a URL with its scheme's default port has the same host as one without a port`() throws {
    func host(_ text: String) throws -> String { try #require(URL(string: text)).pollingHost }
    #expect(try host("https://example.com:443/a") == "example.com" && host("HTTP://Example.com:80/a") == "example.com")
    #expect(try host("https://example.com:80/a") == "example.com:80" && host("http://[::1]:8080/") == "::1:8080")
  }

  @Test func `ten thousand feeds of one host don't delay another host's`() {
    var queue = PollQueue(limit: 2)
    for _ in 0..<10_000 { queue.add(host: "large", due: 0) }
    for _ in 0..<3 { queue.add(host: "small", due: 0) }
    var started: [Int] = []
    for second in 0..<6 {
      while case .start(let feed) = queue.next(at: Double(second)) { started.append(feed) }
      for feed in started.suffix(queue.running) { queue.ended(feed, due: nil, hostOpens: Double(second + 1)) }
    }
    #expect(started.filter { $0 >= 10_000 } == [10_000, 10_001, 10_002])
    #expect(started.filter { $0 < 10_000 } == Array(0..<6))
  }

  @Test func `no more requests run than the limit, and hosts take turns`() {
    var queue = PollQueue(limit: 2)
    for host in ["a", "a", "b", "b", "c", "c"] { queue.add(host: host, due: 0) }
    #expect(queue.next(at: 0) == .start(0))
    #expect(queue.next(at: 0) == .start(2))
    #expect(queue.next(at: 0) == .wait(until: nil))
    queue.ended(0, due: nil, hostOpens: 0)
    #expect(queue.next(at: 0) == .start(4))
    queue.ended(2, due: nil, hostOpens: 0)
    #expect(queue.next(at: 0) == .start(1))
  }

  @Test func `a closed host's feeds keep their order until it opens`() {
    var queue = PollQueue(limit: 10)
    for _ in 0..<2 { queue.add(host: "a", due: 0) }
    queue.add(host: "b", due: 5)
    queue.close("a", until: 50)
    #expect(queue.next(at: 0) == .wait(until: 5))
    #expect(queue.next(at: 5) == .start(2))
    #expect(queue.next(at: 50) == .start(0))
  }

  @Test func `after sleep, overdue feeds are spread, but new feeds aren't`() {
    var queue = PollQueue(limit: 10)
    queue.add(host: "new", due: -.greatestFiniteMagnitude)
    for due in [10.0, 20, 990] { queue.add(host: "\(due)", due: due) }
    var places = [1001.0, 1002].makeIterator()
    queue.spreadOverdue(from: 0, at: 1000, grace: 60) { count in
      #expect(count == 2)
      return places.next()!
    }
    #expect(queue.next(at: 1000) == .start(0))
    #expect(queue.next(at: 1000) == .start(3))
    #expect(queue.next(at: 1000) == .wait(until: 1001))
  }

  @Test func `the next time is that of a feed that is still waiting, or of its host`() {
    var queue = PollQueue(limit: 10)
    #expect(queue.nextTime() == nil)
    for due in [10.0, 20] { queue.add(host: "a", due: due) }
    #expect(queue.nextTime() == 10)
    queue.remove(0)
    #expect(queue.nextTime() == 20)
    queue.close("a", until: 50)
    #expect(queue.next(at: 20) == .wait(until: 50))
    #expect(queue.nextTime() == 50)
    #expect(queue.next(at: 50) == .start(1))
    #expect(queue.nextTime() == nil)
  }

  @Test func `a feed that is removed while it is due no longer counts, and nothing waits for its host`() {
    var queue = PollQueue(limit: 10)
    for due in [0.0, 0, 0] { queue.add(host: "a", due: due) }
    queue.add(host: "b", due: 100)
    queue.close("a", until: 50)
    #expect(queue.next(at: 0) == .wait(until: 50))
    queue.remove(1)
    #expect(queue.readyCount == 2)
    #expect(queue.nextTime() == 50)
    for feed in [0, 2] { queue.remove(feed) }
    #expect(queue.readyCount == 0)
    #expect(queue.nextTime() == 100)
    // Its host is still usable.
    queue.add(host: "a", due: 60)
    #expect(queue.next(at: 60) == .start(4))
  }

  @Test func `overdue feeds with smaller numbers than the feeds to spread keep their due times`() {
    var queue = PollQueue(limit: 10)
    for due in [10.0, 20, 30] { queue.add(host: "\(due)", due: due) }
    queue.spreadOverdue(from: 0, feeds: 1, at: 1000, grace: 60) { count in
      #expect(count == 2)
      return 1001
    }
    #expect(queue.next(at: 1000) == .start(0))
    #expect(queue.next(at: 1000) == .wait(until: 1001))
  }

  @Test func `after the clock was set back, due times keep their distance`() {
    var queue = PollQueue(limit: 10)
    queue.add(host: "a", due: 3600)
    queue.shift(by: -1000)
    #expect(queue.next(at: -1000) == .wait(until: 2600))
  }

  @Test func `Agenda removes the least key first, and equal keys in order of insertion`() {
    var heap = Agenda()
    var random = SplitMix64(seed: 3)
    let keys = (0..<500).map { _ in Double.random(in: 0..<50, using: &random).rounded() }
    for (index, key) in keys.enumerated() { heap.insert(index, at: key) }
    var order: [Int] = []
    while let (_, value) = heap.first {
      order.append(value)
      heap.removeFirst()
    }
    #expect(order == keys.indices.sorted { (keys[$0], $0) < (keys[$1], $1) })
  }
}
