import FeedFleet
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// The number of switches to the thread pool per lease.
@Suite(.settled) struct LeaseTripTests {
  @Test func `a lease reads the saved document in one round trip, and in none if nothing changed`() {
    let time = VirtualTimeScheduler()
    // Nothing else takes time, so the elapsed seconds are the number of switches.
    time.offloadLatency = .seconds(1)
    let network = VirtualNetwork(on: time)
    let engine = MemoryFleet(on: time) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    let address = URL(feed: 1)
    var answered: [StreamInstant] = []
    network.serve(address.host()!) { request, _ in
      answered.append(time.now)
      guard request.request.headers.isEmpty else { return .answer(status: 304, Data()) }
      let item = #"{"id": "1", "image": "https://a.example/1.png"}"#
      return .answer(
        status: 200, headers: [("ETag", "\"1\"")],
        Data(#"{"version": "https://jsonfeed.org/version/1.1", "items": [\#(item)]}"#.utf8))
    }
    var options = FleetWorker.Options()
    options.interval = .seconds(60)
    var completed: [(outcome: PollOutcome, time: StreamInstant)] = []
    let worker = FleetWorker(engine, client: network, on: time, options: options).sink {
      completed.append(($0.outcome, time.now))
    }
    let adding = engine.add([NewFeed(address)]).sink { _ in
    } receiveValue: { _ in
    }
    time.advance(by: .seconds(200))
    adding.cancel()
    worker.cancel()
    time.advance(by: .seconds(60))
    #expect(completed.map(\.outcome).prefix(3) == [.changed, .unchanged, .unchanged])
    let trips = zip(answered, completed).map { $0.distance(to: $1.time).seconds }
    #expect(trips.prefix(3).map { $0.rounded() } == [1, 0, 0], "\(trips)")
  }
}
