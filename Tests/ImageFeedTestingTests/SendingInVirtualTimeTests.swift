import FeedHTTP
import FeedStream
import FeedStreamTesting
import Foundation
import ImageFeedTesting
import TestSupport
import Testing

/// Clients around other clients, in virtual time.
@Suite(.settled) struct SendingInVirtualTimeTests {
  @Test func `retrying repeats only idempotent requests`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("example.com") { request, _ in
      request.number < 2 ? .answer(status: 503, Data()) : .answer(request.body.withUnsafeBytes { Data($0) })
    }
    let client = network.retrying(.constant(.seconds(1), limit: 3), on: time)
    let url = URL(string: "http://example.com/")!
    let put = client.put(url, .text("whole")).record(on: time)
    time.advance(by: 10)
    #expect(put.values.map(\.status) == [200])
    #expect(put.values.first?.body == Data("whole".utf8))
    #expect(network.requests == 3)
    network.serve("example.com") { _, _ in .drop(.send) }
    let post = client.post(url, .text("order")).record(on: time)
    time.advance(by: 10)
    #expect(post.values.isEmpty)
    #expect(network.requests == 4)
    var allowed = HTTPRequest(.post, url, body: .text("order"))
    allowed.isRepeatable = true
    let again = client.send(allowed).record(on: time)
    time.advance(by: 10)
    #expect(again.values.isEmpty)
    #expect(network.requests == 8)
  }

  @Test func `a virtual origin receives a streamed body`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("example.com") { request, _ in .answer(Data(request.body.text.uppercased().utf8)) }
    let source = ["a", "b"].publisher.map { Chunk($0) }
    let response = network.post(URL(string: "http://example.com/")!, .stream(source)).record(on: time)
    time.advance(by: 1)
    #expect(response.values.first?.body == Data("AB".utf8))
  }

  @Test func `a cache passes other methods on, and invalidates what they change`() throws {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    network.serve("example.com") { request, _ in
      .answer(headers: [("Cache-Control", "max-age=1000")], Data("\(request.number)".utf8))
    }
    let now = Date()
    let client = network.cached(in: MemoryHTTPCache(), now: { now })
    let url = URL(string: "http://example.com/")!
    func body(_ publisher: AnyPublisher<HTTPResponse, HTTPError>) -> String? {
      let recorder = publisher.record(on: time)
      time.advance(by: 1)
      return recorder.values.first.map { String(decoding: $0.body, as: UTF8.self) }
    }
    #expect(body(client.get(url)) == "0")
    #expect(body(client.get(url)) == "0")
    #expect(body(client.head(url)) == "")
    #expect(network.requests == 2)
    #expect(body(client.get(url)) == "0")
    #expect(body(client.put(url, .text("x"))) == "2")
    #expect(body(client.get(url)) == "3")
  }

  @Test func `cookies set by redirects are saved and sent, and credentials stay with their origin`() {
    let time = VirtualTimeScheduler()
    let network = VirtualNetwork(on: time)
    var seen: [String] = []
    network.observer = { exchange in
      guard exchange.ended == nil else { return }
      let request = exchange.request
      seen.append("\(request.url.host() ?? "") \(request.values(of: "Cookie")) \(request.values(of: "Authorization"))")
    }
    network.serve("a.example.com") { request, _ in
      request.request.url.path() == "/in"
        ? .answer(
          status: 303, headers: [("Set-Cookie", "s=1; Path=/"), ("Location", "/home")], Data())
        : .answer(status: 302, headers: [("Location", "http://other.org/")], Data())
    }
    network.serve("other.org") { _, _ in .answer(Data("end".utf8)) }
    let jar = CookieJar(suffixes: PublicSuffixes())
    let client = network.withCookies(in: jar)
    let url = URL(string: "http://a.example.com/in")!
    let request = HTTPRequest(
      .post, url, headers: [.init(name: "Authorization", value: "Bearer x")], body: .text("password"))
    let response = client.send(request).record(on: time)
    time.advance(by: 5)
    #expect(response.values.first?.body == Data("end".utf8))
    #expect(response.values.first?.redirects.map(\.status) == [303, 302])
    #expect(
      seen == [
        #"a.example.com [] ["Bearer x"]"#, #"a.example.com ["s=1"] ["Bearer x"]"#, "other.org [] []",
      ])
  }
}
