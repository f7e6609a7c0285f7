import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeed
import ImageFeedTesting
import TestSupport
import Testing

@Suite("VirtualNetwork", .settled)
struct VirtualNetworkTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let url = URL(string: "https://example.com/feed")!

  init() { network = VirtualNetwork(on: time) }

  /// A request's result, as its status or the failure's kind, and the time.
  private func end(of request: HTTPRequest) -> (what: String, at: StreamInstant) {
    var end = (what: "nothing", at: time.now)
    let subscription = network.get(request).sink { [time] in
      if case .failure(let error) = $0 { end = ("\(error.kind)", time.now) }
    } receiveValue: { [time] in
      end = ("\($0.status)", time.now)
    }
    time.run()
    subscription.cancel()
    return end
  }

  @Test func `a scripted response arrives after its latency, with its status and bytes`() {
    network.serve("example.com") { request, _ in
      .answer(status: 200 + request.number, Data("\(request.number)".utf8), after: 0.25)
    }
    #expect(end(of: HTTPRequest(url)) == ("200", StreamInstant(nanoseconds: 250_000_000)))
    #expect(end(of: HTTPRequest(url)) == ("201", StreamInstant(nanoseconds: 500_000_000)))
    guard case .answered(let response)? = network.log.last?.ending else {
      Issue.record("The log must have the answer: \(network.log)")
      return
    }
    #expect(response.body == Data("1".utf8))
  }

  @Test func `each subscription sends one request, when a value is requested`() {
    network.serve("example.com") { _, _ in .feed([]) }
    let get = network.get(url)
    #expect(network.requests == 0)
    var subscription: (any Subscription)?
    var answers = 0
    get.subscribe(
      AnySubscriber(
        receiveSubscription: { subscription = $0 },
        receiveValue: { _ in
          answers += 1
          return .none
        }))
    time.run()
    #expect(network.requests == 0)
    subscription?.request(.max(1))
    subscription?.request(.max(1))
    time.run()
    #expect(network.requests == 1)
    #expect(answers == 1)
  }

  @Test func `a host without a server isn't found`() { #expect(end(of: HTTPRequest(url)).what == "nameResolution") }

  @Test(arguments: [VirtualReply.feed([], after: 2), .feed([], after: 5), .drop(after: 5), .silence])
  func `a request times out when its response comes at the timeout, later or never`(reply: VirtualReply) {
    network.serve("example.com") { _, _ in reply }
    #expect(
      end(of: HTTPRequest(url, timeout: 2)) == ("timedOut(FeedHTTP.HTTPError.Phase.response)", time.now))
    #expect(time.now == StreamInstant(nanoseconds: 2_000_000_000))
  }

  @Test(arguments: [(4, "200"), (5, "tooLarge(limit: 4)")])
  func `a body over the limit fails, and one at the limit doesn't`(bytes: Int, expected: String) {
    network.serve("example.com") { _, _ in .answer(Data(count: bytes)) }
    #expect(end(of: HTTPRequest(url, maxBodyBytes: 4)).what == expected)
  }

  @Test func `an outage fails new requests, cuts open ones, and ends`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    network.fail(Outage(time.now.advanced(by: 5)..<time.now.advanced(by: 60), failure: .tls))
    #expect(end(of: HTTPRequest(url)) == ("receive", StreamInstant(nanoseconds: 5_000_000_000)))
    #expect(end(of: HTTPRequest(url)).what == "tls")
    time.advance(to: StreamInstant(nanoseconds: 60_000_000_000))
    #expect(end(of: HTTPRequest(url)).what == "200")
  }

  @Test func `disconnecting cuts open requests, and another host's outage doesn't`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    time.schedule(after: time.now.advanced(by: 1)) { [time, network] in
      network.fail(Outage(time.now..<time.now.advanced(by: 60), of: "other.com"))
    }
    time.schedule(after: time.now.advanced(by: 2)) { [network] in network.disconnect() }
    #expect(end(of: HTTPRequest(url)) == ("receive", StreamInstant(nanoseconds: 2_000_000_000)))
    #expect(end(of: HTTPRequest(url)).what == "connect")
    network.reconnect()
    #expect(end(of: HTTPRequest(url)).what == "200")
  }

  @Test func `cancelling closes the request immediately and leaves no pending work`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    var events = 0
    let subscription = network.get(url).sink { _ in
      events += 1
    } receiveValue: { _ in
      events += 1
    }
    time.advance(by: 3)
    #expect(network.open.map(\.number) == [0])

    subscription.cancel()

    #expect(network.open.isEmpty)
    #expect(network.log.last?.ending == .cancelled)
    #expect(network.log.last?.ended == StreamInstant(nanoseconds: 3_000_000_000))
    #expect(time.pending.isEmpty)
    time.run()
    #expect(events == 0)
  }

  @Test func `the same seed produces the same responses, and another seed different ones`() {
    func statuses(seed: UInt64) -> [String] {
      let network = VirtualNetwork(on: time, seed: seed)
      network.serve("example.com") { _, random in .answer(status: Int.random(in: 200...599, using: &random), Data()) }
      for _ in 0..<10 {
        _ = network.get(url).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
        time.run()
      }
      return network.log.map { "\($0.request.url)" }
        + (0..<10).map { _ in
          var status = ""
          let subscription = network.get(url).sink { _ in
          } receiveValue: {
            status = "\($0.status)"
          }
          time.run()
          subscription.cancel()
          return status
        }
    }
    #expect(statuses(seed: 1) == statuses(seed: 1))
    #expect(statuses(seed: 1) != statuses(seed: 2))
  }

  @Test func `clearing the log keeps open requests`() {
    network.serve("example.com") { _, _ in .feed([], after: 10) }
    _ = end(of: HTTPRequest(url))
    let subscription = network.get(url).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    network.clearLog()
    #expect(network.log.map(\.number) == [1])
    time.run()
    #expect(network.log.first?.ended == time.now)
    subscription.cancel()
  }

  @Test func `an encoded payload decodes to the same images`() throws {
    let images: FeedImages = [
      FeedImage(id: UUID(), description: "\"quoted\", 👩‍👩‍👧, \\ and \u{1}", location: nil, url: url),
      FeedImage(id: UUID(), description: nil, location: "", url: URL(string: "http://example.com/a%20b?c=d&e")!),
    ]
    let document = WebDocument(body: FeedPayload.bytes(of: images), url: url)
    #expect(try [any FeedFormat].web.images(of: document) == images)
  }

  @Test func `an open request is listed as pending work with its host`() {
    network.serve("example.com") { _, _ in .silence }
    let subscription = network.get(url).sink(receiveCompletion: { _ in }, receiveValue: { _ in })
    #expect(time.pending.map { "\($0)" } == ["30s: the request to example.com"])
    subscription.cancel()
    #expect(time.pending.isEmpty)
  }

  @Test func `a negative latency traps`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = VirtualReply.feed([], after: -5)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("use zero or more"))
  }
}
