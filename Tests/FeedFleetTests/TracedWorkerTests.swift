import FeedFleet
import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

/// A poll has a trace from its lease to the update that a gateway reads.
@Suite(.settled, .timeLimit(.minutes(5))) struct TracedWorkerTests {
  private let time = VirtualTimeScheduler()

  /// The origin's fields of requests, and what the traces of a worker noted.
  private final class Notes {
    var fields: [String?] = []
    var begun: [URL] = []
    var ended: [FleetWorker.Report?] = []
  }

  @Test func `a poll's requests, its update and its end have the trace of its lease`() {
    let network = VirtualNetwork(on: time)
    let (feed, notes) = (URL(feed: 1), Notes())
    network.serve("a.example") { request, _ in
      notes.fields.append(request.request.headers.first { $0.name == "traceparent" }?.value)
      return .feed([FeedImage(id: UUID(), url: request.request.url)], after: .zero)
    }
    let fleet = MemoryFleet(on: time) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    var options = FleetWorker.Options()
    (options.interval, options.seed) = (.seconds(300), 1)
    options.trace = { lease in
      notes.begun.append(lease.address)
      let parent = "trace \(notes.begun.count)"
      return PollTrace(parent: parent) { client in
        client.adjusting { $0.headers.append(.init(name: "traceparent", value: parent)) }
      } end: {
        notes.ended.append($0)
      }
    }
    var updates: [String?] = []
    let adding = fleet.add([NewFeed(feed)]).sink { _ in
    } receiveValue: { _ in
    }
    let following = FleetFollower(nil, in: fleet, seed: 1, on: time).sink {
      if case .update(_, let logged) = $0 { updates.append(logged.update.trace) }
    }
    time.advance(by: .milliseconds(50))
    let worker = FleetWorker(fleet, client: network, on: time, options: options).sink { _ in }
    time.advance(by: .seconds(400))
    #expect(notes.begun == [feed, feed])
    #expect(notes.fields == ["trace 1", "trace 2"])
    #expect(updates == ["trace 1", "trace 2"])
    #expect(notes.ended.map { $0?.outcome } == [.changed, .changed])
    for subscription in [adding, following, worker] { subscription.cancel() }
    time.advance(by: .seconds(60))
  }

  @Test func `the trace of a poll that is cancelled ends without a report, and a long identity is left out`() {
    let network = VirtualNetwork(on: time)
    network.serve("a.example") { request, _ in
      .feed([FeedImage(id: UUID(), url: request.request.url)], after: .seconds(5))
    }
    let fleet = MemoryFleet(on: time) {
      Date(timeIntervalSince1970: 1_800_000_000 + Double(time.now.nanoseconds) / 1e9)
    }
    let notes = Notes()
    var options = FleetWorker.Options()
    options.trace = { _ in PollTrace(end: { notes.ended.append($0) }) }
    let adding = fleet.add([NewFeed(URL(feed: 1))]).sink { _ in
    } receiveValue: { _ in
    }
    let worker = FleetWorker(fleet, client: network, on: time, options: options).sink { _ in }
    time.advance(by: .seconds(2))
    #expect(notes.ended.isEmpty)
    worker.cancel()
    #expect(notes.ended == [nil])
    adding.cancel()
    time.advance(by: .seconds(60))
    #expect(notes.ended == [nil])
    #expect(PollTrace(parent: String(repeating: "x", count: 257)).parent == nil)
    #expect(PollTrace(parent: String(repeating: "x", count: 256)).parent != nil)
  }
}
