import FeedPolling
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

/// Polling a list of feeds that changes.
@Suite(.settled) struct FollowedListTests {
  private final class Place {
    let time = VirtualTimeScheduler()
    let network: VirtualNetwork
    let disk: VirtualDisk
    let lists = PassthroughSubject<[PolledAddress], Never>()
    var results: [FeedReport] = []
    var progress = PollingProgress()
    var isFinished = false
    private var subscription: (any Subscription)?

    init() {
      network = VirtualNetwork(on: time)
      disk = VirtualDisk(on: time)
      time.offloadLatency = .milliseconds(1)
      serve(["a", "b", "c"])
    }

    func serve(_ hosts: [String]) {
      for host in hosts {
        network.serve("\(host).example") { _, _ in .answer(headers: [], FeedPayload.bytes(of: makeFeed(3).images)) }
      }
    }

    func start(_ hosts: String...) { start(hosts, .unlimited) }

    func start(_ hosts: [String], _ demand: Subscribers.Demand) {
      let cache = FeedCache(store: disk, on: time, now: { [clock = Clock(time)] in clock.now })
      var options = FeedPoller.Options()
      options.seed = 7
      options.onProgress = { [unowned self] in progress = $0 }
      let poller = FeedPoller(
        hosts.map(Self.feed), client: network, cache: cache, store: disk, on: time, options: options)
      poller.following(lists).subscribe(
        AnySubscriber(
          receiveSubscription: { [unowned self] in
            subscription = $0
            $0.request(demand)
          },
          receiveValue: { [unowned self] in
            results.append($0)
            return .none
          },
          receiveCompletion: { [unowned self] _ in
            isFinished = true
            subscription = nil
          }))
    }

    func request(_ demand: Subscribers.Demand) { subscription?.request(demand) }

    private final class Clock: Sendable {
      let time: VirtualTimeScheduler
      init(_ time: VirtualTimeScheduler) { self.time = time }
      var now: Date { noon + Double(time.now.nanoseconds) / 1e9 }
    }

    func follow(_ hosts: String...) { follow(hosts) }
    func follow(_ hosts: [String]) { lists.send(hosts.map(Self.feed)) }
    func stop() { subscription.take()?.cancel() }

    private static func feed(_ host: String) -> PolledAddress {
      PolledAddress(URL(string: "https://\(host).example/feed")!, every: .seconds(60))
    }

    var shown: [String] { results.compactMap { $0.address.host } }
    /// The hosts that were requested since the last call.
    func requested() -> Set<String> {
      defer { seen = network.log.count }
      return Set(network.log.dropFirst(seen).compactMap { $0.request.url.host })
    }
    private var seen = 0
  }

  @Test func `an added feed is polled immediately, and other feeds aren't polled sooner`() {
    let place = Place()
    place.start("a")
    place.time.advance(by: .seconds(5))
    #expect(place.shown == ["a.example"] && place.requested() == ["a.example"])
    place.follow("a", "b")
    place.time.advance(by: .seconds(5))
    #expect(place.shown == ["a.example", "b.example"] && place.requested() == ["b.example"])
    #expect(place.progress.feeds == 2)
    place.stop()
  }

  @Test func `adding a feed doesn't delay overdue feeds`() {
    let place = Place()
    let hosts = (0..<30).map { "h\($0)" }
    place.serve(hosts)
    place.start(hosts, .max(30))
    place.time.advance(by: .seconds(5))
    #expect(place.requested().count == 30 && place.results.count == 30)
    // There is no demand, so the feeds become overdue.
    place.time.advance(by: .seconds(300))
    place.follow(hosts + ["a"])
    place.time.advance(by: .seconds(1))
    place.request(.unlimited)
    place.time.advance(by: .seconds(1))
    #expect(place.requested().count == 31)
    place.stop()
  }

  @Test func `a poller finishes when its list has completed and the remaining feeds are gone`() {
    let place = Place()
    place.start("a", "b")
    place.time.advance(by: .seconds(5))
    place.network.serve("a.example") { _, _ in .answer(status: 410, Data()) }
    place.follow("a")
    place.lists.send(completion: .finished)
    // An interval varies by a tenth.
    place.time.advance(by: .seconds(70))
    #expect(place.isFinished, "without waiting for the removed feed")
  }

  @Test func `a removed feed isn't polled, and is polled again when it returns`() {
    let place = Place()
    place.start("a", "b")
    place.time.advance(by: .seconds(5))
    _ = place.requested()
    place.follow("b")
    place.time.advance(by: .seconds(200))
    #expect(place.requested() == ["b.example"] && place.progress.feeds == 1)
    place.follow("a", "b")
    place.time.advance(by: .seconds(200))
    #expect(place.requested() == ["a.example", "b.example"])
    place.stop()
  }

  @Test func `of lists in quick succession, the last one counts`() {
    let place = Place()
    place.start("a")
    place.follow("b")
    place.follow("c")
    place.time.advance(by: .seconds(5))
    _ = place.requested()
    place.time.advance(by: .seconds(200))
    #expect(place.requested() == ["c.example"])
    place.stop()
  }

  @Test func `polling continues with an empty list, until the stream of lists finishes`() {
    let place = Place()
    place.start("a")
    place.follow()
    place.time.advance(by: .seconds(500))
    #expect(!place.isFinished)
    place.lists.send(completion: .finished)
    place.time.advance(by: .seconds(500))
    #expect(place.isFinished)
  }
}
