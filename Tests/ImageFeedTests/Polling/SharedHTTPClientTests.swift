import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

/// Equal requests that run at the same time.
@Suite(.settled) struct SharedHTTPClientTests {
  private let time = VirtualTimeScheduler()
  private let network: VirtualNetwork
  private let client: SharedHTTPClient

  init() {
    network = VirtualNetwork(on: time)
    network.serve("example.com") { request, _ in .answer(Data("\(request.number)".utf8), after: 1) }
    client = network.shareInFlight()
  }

  private func get(_ request: HTTPRequest = HTTPRequest(address), _ keep: @escaping (String) -> Void) -> AnyCancellable
  {
    client.get(request).sink { _ in
    } receiveValue: {
      keep(String(decoding: $0.body, as: UTF8.self))
    }
  }

  @Test func `simultaneous loads share one request, and late ones get its response too`() {
    var answers: [String] = []
    var subscriptions = [get { answers.append($0) }, get { answers.append($0) }]
    time.advance(by: .milliseconds(500))
    subscriptions.append(get { answers.append($0) })
    time.advance(by: .seconds(1))
    #expect(answers == ["0", "0", "0"] && network.requests == 1)
    subscriptions.append(get { answers.append($0) })
    time.advance(by: .seconds(1))
    #expect(answers.last == "1" && network.requests == 2)
  }

  @Test func `requests that differ in any property aren't shared`() {
    let requests = [
      HTTPRequest(address), HTTPRequest(otherAddress), HTTPRequest(address, maxBodyBytes: 10),
      HTTPRequest(address, headers: [.init(name: "If-None-Match", value: "\"1\"")]),
    ]
    let subscriptions = requests.map { get($0) { _ in } }
    #expect(network.requests == 4)
    withExtendedLifetime(subscriptions) { time.run() }
  }

  @Test func `a shared request is cancelled only with its last subscriber`() {
    var answers = 0
    let first = get { _ in answers += 1 }
    let second = get { _ in answers += 1 }
    first.cancel()
    #expect(network.open.count == 1)
    second.cancel()
    #expect(network.open.isEmpty)
    let third = get { _ in answers += 1 }
    time.run()
    #expect(answers == 1 && network.requests == 2)
    third.cancel()
  }

  @Test func `a failure reaches all subscribers, and the next load makes a new request`() {
    network.disconnect()
    var failures = 0
    let count: (Subscribers.Completion<HTTPError>) -> Void = { if case .failure = $0 { failures += 1 } }
    let subscriptions = (0..<3).map { _ in client.get(address).sink(receiveCompletion: count, receiveValue: { _ in }) }
    time.run()
    #expect(failures == 3 && network.requests == 1)
    network.reconnect()
    _ = subscriptions
    var answers = 0
    let last = get { _ in answers += 1 }
    time.run()
    #expect(answers == 1)
    last.cancel()
  }
}
