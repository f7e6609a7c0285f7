import FeedFleet
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Requests that lead to hosts other than the lease's own.
@Suite(.settled) struct RedirectedWorkTests {
  private let target = "target.example"

  /// Workers of a fleet in memory, whose feeds redirect to one host.
  private func withWorkers(
    _ count: Int, feeds: Int,
    _ body: (VirtualTimeScheduler, VirtualNetwork, MemoryFleet, () -> [FleetWorker.Report]) throws -> Void
  ) rethrows {
    let time = VirtualTimeScheduler()
    time.offloadLatency = .milliseconds(1)
    let network = VirtualNetwork(on: time)
    let engine = MemoryFleet(on: time, latency: .milliseconds(2)) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    let addresses = (0..<feeds).map { URL(feed: $0, host: "h\($0).example") }
    for (number, address) in addresses.enumerated() {
      network.serve(address.host()!) { [target] _, _ in
        .answer(status: 302, headers: [("Location", "https://\(target)/\(number)")], Data())
      }
    }
    network.serve(target) { request, _ in
      .feed([FeedImage(id: UUID(), url: request.request.url)], after: .milliseconds(300))
    }
    var reports: [FleetWorker.Report] = []
    let workers = (0..<count).map { number in
      var options = FleetWorker.Options()
      (options.name, options.seed) = ("w\(number)", UInt64(number))
      return FleetWorker(engine, client: network, on: time, options: options).sink { reports.append($0) }
    }
    let adding = engine.add(addresses.map { NewFeed($0) }).sink { _ in
    } receiveValue: { _ in
    }
    try body(time, network, engine) { reports }
    adding.cancel()
    for worker in workers { worker.cancel() }
    time.advance(by: .seconds(60))
  }

  @Test func `a host that many feeds redirect to is requested by one worker at a time, with gaps`() {
    withWorkers(3, feeds: 12) { time, network, engine, reports in
      var (open, ended) = (0, StreamInstant(nanoseconds: -10_000_000_000))
      network.observer = { [target] exchange in
        guard exchange.request.url.host() == target else { return }
        if exchange.ended == nil {
          #expect(open == 0 && ended.distance(to: time.now) >= .milliseconds(999))
          open += 1
        } else {
          open -= 1
          ended = time.now
        }
      }
      time.advance(by: .seconds(40))
      #expect(reports().count == 12 && reports().allSatisfy { $0.outcome == .changed })
      // The target's feed is saved under the subscribed URL.
      #expect(engine.feed(URL(feed: 3, host: "h3.example"))?.images?.first?.url.path() == "/3")
    }
  }

  @Test func `while a poll waits for a host, another host that it has visited is free`() {
    withWorkers(1, feeds: 0) { time, network, engine, reports in
      let names = ["last.example", "first.example", target]
      let addresses = names.map { URL(string: "https://\($0)/feed")! }
      network.serve(names[0]) { request, _ in
        .feed([FeedImage(id: UUID(), url: request.request.url)], after: .seconds(25))
      }
      network.serve(names[1]) { [target] _, _ in
        .answer(status: 302, headers: [("Location", "https://\(target)/moved")], Data())
      }
      network.serve(target) { request, _ in
        request.request.url.path() == "/moved"
          ? .answer(status: 302, headers: [("Location", "https://last.example/")], Data())
          : .feed([FeedImage(id: UUID(), url: request.request.url)])
      }
      let adding = engine.add(zip(addresses, [0, 1, 3]).map { NewFeed($0, after: .seconds($1)) }).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(10))
      adding.cancel()
      #expect(network.log.contains { $0.request.url.path() == "/moved" })
      #expect(reports().map(\.address) == [addresses[2]])
    }
  }

  @Test func `a redirect to a paused host isn't followed`() {
    withWorkers(1, feeds: 1) { time, network, engine, reports in
      let pause = engine.pause(target, for: nil, because: "its owner wants it so").sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(10))
      pause.cancel()
      #expect(!network.log.contains { $0.request.url.host() == target })
      #expect(reports().map(\.outcome) == [.failed])
      #expect(reports().first?.decision?.outcome.contains("its owner wants it so") == true)
    }
  }

  /// Saves records, as of copied feeds, according to which feeds of several hosts have moved to the target.
  private func copy(_ count: Int, failures: Int = 0, to engine: MemoryFleet) -> [URL] {
    let addresses = (0..<count).map { URL(feed: $0, host: "h\($0).example") }
    for address in addresses {
      var record = FeedRecord(health: FeedHealth(address: address))
      let moved = URL(string: "https://\(target)\(address.path())")!
      let since = Date(timeIntervalSince1970: 1_799_000_000)
      record.health.move = FeedHealth.Move(to: moved, since: since, isBelieved: true)
      record.health.failures = failures
      engine.state.feeds[address] = MemoryFleet.Feed(record: record)
    }
    return addresses
  }

  @Test func `feeds whose records lead to another host are requested there in turns, and not while it is paused`() {
    withWorkers(2, feeds: 0) { time, network, engine, reports in
      let addresses = copy(3, to: engine)
      network.serve(target) { request, _ in
        request.request.url.path() == addresses[1].path()
          ? .answer(status: 429, headers: [("Retry-After", "600")], Data(), after: .milliseconds(300))
          : .feed([FeedImage(id: UUID(), url: request.request.url)], after: .milliseconds(300))
      }
      var (open, most) = (0, 0)
      network.observer = { [target] exchange in
        guard exchange.request.url.host() == target else { return }
        open += exchange.ended == nil ? 1 : -1
        most = max(most, open)
      }
      let adding = engine.add(addresses.enumerated().map { NewFeed($1, after: .milliseconds(100 * $0)) }).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(40))
      adding.cancel()
      #expect(reports().filter { $0.outcome != .postponed }.map(\.address) == Array(addresses.prefix(2)) && most == 1)
      // The pause is that of the host that requested it.
      #expect(engine.state.hosts[target]?.pausedUntil != nil)
      #expect(addresses.allSatisfy { engine.state.hosts[$0.host()!]?.pausedUntil == nil })
    }
  }

  @Test func `many feeds whose records lead to one host keep no worker from another host, and none fails`() throws {
    try withWorkers(1, feeds: 0) { time, network, engine, reports in
      let (addresses, other) = (copy(80, to: engine), URL(string: "https://other.example/feed")!)
      network.serve(other.host()!) { request, _ in .feed([FeedImage(id: UUID(), url: request.request.url)]) }
      let adding = engine.add(addresses.map { NewFeed($0) } + [NewFeed(other, after: .seconds(5))]).sink { _ in
      } receiveValue: { _ in
      }
      // Each request to the target takes about 1.3 s, with its pause.
      time.advance(by: .seconds(200))
      adding.cancel()
      let polled = reports().filter { $0.outcome != .postponed }
      #expect(polled.allSatisfy { $0.outcome == .changed } && Set(polled.map(\.address)) == Set(addresses + [other]))
      // Idle workers check every second.
      let report = try #require(polled.first { $0.address == other })
      #expect(report.lateness < .seconds(2))
      #expect(network.log.allSatisfy { $0.request.url.host() == target || $0.request.url == other })
    }
  }

  @Test func `a feed whose record leads to a paused host waits for it without a failure`() {
    withWorkers(1, feeds: 0) { time, network, engine, reports in
      // After another failure, the move would no longer be believed.
      let address = copy(1, failures: 2, to: engine)[0]
      let calls = [
        engine.pause(target, for: .seconds(30), because: "too many requests").map { _ in 0 }.eraseToAnyPublisher(),
        engine.add([NewFeed(address)]),
      ].map { call in
        call.sink { _ in
        } receiveValue: { _ in
        }
      }
      time.advance(by: .seconds(20))
      #expect(network.requests == 0 && reports().map(\.outcome) == [.postponed])
      time.advance(by: .seconds(20))
      for call in calls { call.cancel() }
      #expect(reports().map(\.outcome) == [.postponed, .changed])
      #expect(network.log.map { $0.request.url.host() } == [target])
      #expect(engine.feed(address)?.record.health.move?.isBelieved == true)
    }
  }

  @Test func `endless redirects fail the poll`() {
    withWorkers(1, feeds: 1) { time, network, _, reports in
      network.serve(target) { request, _ in
        .answer(status: 302, headers: [("Location", request.request.url.absoluteString)], Data())
      }
      time.advance(by: .seconds(40))
      #expect(reports().map(\.outcome) == [.failed] && network.requests == 11)
    }
  }
}
