import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

/// The progress of a request, as a stream.
@Suite(.settled) struct HTTPEventsTests {
  /// Records the events that arrive, and requests as many as the test tells it to.
  private final class Listener: Subscriber {
    typealias Input = HTTPProgress
    typealias Failure = HTTPError

    private(set) var received: [HTTPProgress] = []
    private(set) var completion: Subscribers.Completion<HTTPError>?
    private(set) var subscription: (any Subscription)?
    private let demand: Subscribers.Demand
    var onValue: (HTTPProgress) -> Void = { _ in }

    init(demand: Subscribers.Demand = .unlimited) { self.demand = demand }

    func receive(subscription: any Subscription) {
      self.subscription = subscription
      subscription.request(demand)
    }

    func receive(_ input: HTTPProgress) -> Subscribers.Demand {
      received.append(input)
      onValue(input)
      return .none
    }

    func receive(completion: Subscribers.Completion<HTTPError>) {
      self.completion = completion
      subscription = nil
    }

    func cancel() {
      subscription?.cancel()
      subscription = nil
      onValue = { _ in }
    }

    var answer: HTTPResponse? { if case .finished(let response) = received.last { response } else { nil } }
  }

  /// An origin that pauses before its response and in the middle of it.
  private func slowOrigin() -> RawOrigin {
    RawOrigin { connection in
      try connection.readRequest()
      usleep(300_000)
      try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345")
      usleep(300_000)
      try connection.send("67890")
    }
  }

  @Test func `events(for:) reports progress before the response`() {
    let origin = slowOrigin()
    defer { origin.stop() }
    let bench = HTTPBench()
    let listener = Listener()
    bench.client.events(for: HTTPRequest(origin.url())).subscribe(listener)
    bench.loop.run()
    #expect(listener.received.contains(.requesting))
    #expect(listener.received.contains(.receiving(bytes: 5, of: 10)))
    #expect(listener.answer?.body == Data("1234567890".utf8))
    #expect(listener.completion == .finished)
    #expect(zip(listener.received, listener.received.dropFirst()).allSatisfy { $0 != $1 }, "only what changes")
  }

  @Test func `progress without demand is skipped, and the response waits for demand`() {
    let origin = slowOrigin()
    defer { origin.stop() }
    let bench = HTTPBench()
    let listener = Listener(demand: .max(1))
    bench.client.events(for: HTTPRequest(origin.url())).subscribe(listener)
    bench.loop.run()
    #expect(listener.received.count == 1 && listener.answer == nil && listener.completion == nil)
    listener.subscription?.request(.max(1))
    #expect(listener.received.count == 2 && listener.answer != nil && listener.completion == .finished)
  }

  @Test func `cancelling events(for:) closes the connection`() {
    let origin = RawOrigin { connection in
      try connection.readRequest()
      connection.waitForClose()
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    let listener = Listener()
    listener.onValue = { if $0 == .requesting { listener.cancel() } }
    bench.client.events(for: HTTPRequest(origin.url())).subscribe(listener)
    bench.loop.run()
    #expect(bench.client.openConnections == 0)
    #expect(listener.received.last == .requesting && listener.completion == nil)
  }

  @Test func `cancelling on the response prevents the completion`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let listener = Listener()
    listener.onValue = { if case .finished = $0 { listener.cancel() } }
    bench.client.events(for: HTTPRequest(origin.url())).subscribe(listener)
    bench.loop.run()
    #expect(listener.answer != nil && listener.completion == nil)
  }

  @Test func `a failure of the request fails events(for:)`() {
    let bench = HTTPBench()
    let listener = Listener()
    bench.client.events(for: HTTPRequest(URL(string: "ftp://127.0.0.1/")!)).subscribe(listener)
    bench.loop.run()
    guard case .failure(let error) = listener.completion else { return #expect(Bool(false), "it has not failed") }
    #expect(error.kind == .invalidRequest)
  }

  @Test func `a client without progress delivers only the response`() {
    withVirtualTime { time in
      let world = CacheWorld(time)
      let listener = Listener()
      world.client.events(for: world.request()).subscribe(listener)
      time.run()
      #expect(listener.received.count == 1 && listener.answer?.status == 200 && listener.completion == .finished)
    }
  }
}
