import FeedStream
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

@Suite(.settled) struct DeadlinesTests {
  /// A request that waits until its deadline.
  private final class Waiting: HTTPExchange {
    var over: () -> Void = {}
    /// The times between which its deadline must fire.
    var earliest = StreamInstant(nanoseconds: 0)
    var latest = StreamInstant(nanoseconds: 0)

    override func deliver(_ result: Result<HTTPResponse, HTTPError>) { over() }
  }

  @Test func `requests time out in the order of their deadlines, and completed ones never do`() {
    let loop = EventLoop()
    let client = CurlHTTPClient(on: loop)
    let request = HTTPRequest(URL(string: "http://127.0.0.1:1/")!)
    var fired: [(exchange: Waiting, at: StreamInstant)] = []
    let all = (0..<300).map { number in
      let exchange = Waiting(client, request)
      exchange.state = .waiting
      exchange.over = { [unowned exchange] in fired.append((exchange, loop.now)) }
      let timeout = StreamInstant.Stride.milliseconds(number * 7919 % 40)
      exchange.earliest = loop.now.advanced(by: timeout)
      client.deadlines.add(exchange, after: timeout)
      exchange.latest = loop.now.advanced(by: timeout)
      return exchange
    }
    let ended = all.enumerated().filter { $0.offset % 3 == 1 }.map(\.element)
    for exchange in ended { client.deadlines.remove(exchange) }
    loop.run()
    #expect(fired.count == 200)
    #expect(!fired.contains { one in ended.contains { $0 === one.exchange } })
    #expect(fired.allSatisfy { $0.exchange.earliest <= $0.at && $0.exchange.deadlinePlace == -1 })
    #expect(zip(fired, fired.dropFirst()).allSatisfy { $0.exchange.earliest <= $1.exchange.latest })
    for exchange in all { exchange.over = {} }
    client.close()
    loop.close()
  }

  @Test func `deadlines don't keep the loop running after every request has ended`() {
    let loop = EventLoop()
    let client = CurlHTTPClient(on: loop)
    let began = loop.now
    var exchange: Waiting? = Waiting(client, HTTPRequest(URL(string: "http://127.0.0.1:1/")!))
    client.deadlines.add(exchange!, after: .seconds(60))
    // The exchange is released without completing.
    exchange = nil
    loop.run()
    #expect(began.distance(to: loop.now) < .seconds(30))
    client.close()
    loop.close()
  }
}
