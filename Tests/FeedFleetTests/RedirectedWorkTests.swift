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
    _ body: (VirtualTimeScheduler, VirtualNetwork, MemoryFleet, () -> [FleetWorker.Report]) -> Void
  ) {
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
    body(time, network, engine) { reports }
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

  @Test func `feeds whose records lead to another host are requested there in turns, and not while it is paused`() {
    withWorkers(2, feeds: 0) { time, network, engine, reports in
      let addresses = (0..<2).map { URL(feed: $0, host: "h\($0).example") }
      for address in addresses {
        var record = FeedRecord(health: FeedHealth(address: address))
        let moved = URL(string: "https://\(target)\(address.path())")!
        let since = Date(timeIntervalSince1970: 1_799_000_000)
        record.health.move = FeedHealth.Move(to: moved, since: since, isBelieved: true)
        engine.state.feeds[address] = MemoryFleet.Feed(record: record)
      }
      network.serve(target) { request, _ in
        request.request.url.path() == "/0"
          ? .answer(status: 429, headers: [("Retry-After", "600")], Data(), after: .milliseconds(300))
          : .feed([FeedImage(id: UUID(), url: request.request.url)], after: .milliseconds(300))
      }
      var (open, most) = (0, 0)
      network.observer = { [target] exchange in
        guard exchange.request.url.host() == target else { return }
        open += exchange.ended == nil ? 1 : -1
        most = max(most, open)
      }
      let adding = engine.add([NewFeed(addresses[1]), NewFeed(addresses[0])]).sink { _ in
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(40))
      adding.cancel()
      #expect(Set(reports().map(\.address)) == Set(addresses) && most == 1)
      // The pause is that of the host that requested it.
      #expect(engine.state.hosts[target]?.pausedUntil != nil)
      #expect(addresses.allSatisfy { engine.state.hosts[$0.host()!]?.pausedUntil == nil })
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
