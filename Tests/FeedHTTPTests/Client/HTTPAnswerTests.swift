import FeedStream
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct HTTPAnswerTests {
  @Test func `a request delivers a response and finishes`() throws {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", ["X-Feed: eight"], Data("body".utf8)) }
    defer { origin.stop() }
    let probe = HTTPBench().run(origin.url())
    let response = try #require(probe.response)
    #expect(response.status == 200)
    #expect(response.body == Data("body".utf8))
    #expect(response.headers["x-feed"] == "eight")
    #expect(response.url == origin.url())
    #expect(probe.responses.count == 1)
    #expect(probe.isFinished)
  }

  @Test(arguments: [204, 301, 304, 404, 500, 503]) func `every status is delivered`(status: Int) throws {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("\(status) As It Is") }
    defer { origin.stop() }
    let probe = HTTPBench().run(origin.url())
    #expect(probe.response?.status == status)
    #expect(probe.response?.body == Data())
  }

  @Test func `the server receives the request's method, path and header fields`() throws {
    let seen = Mutex<RawOrigin.Request?>(nil)
    let origin = RawOrigin.answering { request in
      seen.withLock { $0 = request }
      return RawOrigin.answer()
    }
    defer { origin.stop() }
    let headers = [
      HTTPRequest.Header(name: "If-None-Match", value: "\"one\""), HTTPRequest.Header(name: "X-Empty", value: ""),
    ]
    _ = HTTPBench().run(HTTPRequest(origin.url("/a%20feed?page=1"), headers: headers))
    let request = try #require(seen.withLock { $0 })
    #expect(request.text.hasPrefix("GET /a%20feed?page=1 HTTP/1.1\r\n"))
    #expect(request["If-None-Match"] == "\"one\"")
    #expect(request["X-Empty"] == "")
    #expect(request["User-Agent"] == "FeedStream/0.1")
    #expect(request["Accept-Encoding"] == "gzip, deflate, br, zstd")
    #expect(request["Host"] == "127.0.0.1:\(origin.port)")
  }

  @Test func `a reused handle doesn't send the previous request's header fields`() throws {
    let seen = Mutex<[RawOrigin.Request]>([])
    let origin = RawOrigin.answering { request in
      seen.withLock { $0.append(request) }
      return RawOrigin.answer()
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    _ = bench.run(HTTPRequest(origin.url(), headers: [.init(name: "Authorization", value: "Bearer secret")]))
    _ = bench.run(origin.url())
    #expect(seen.withLock { $0.map { $0["Authorization"] } } == ["Bearer secret", nil])
  }

  @Test(arguments: ["X: y\r\nEvil: yes", "a\0b"]) func `a header value with line breaks is refused`(value: String) {
    let request = HTTPRequest(URL(string: "http://127.0.0.1:1/")!, headers: [.init(name: "X", value: value)])
    #expect(HTTPBench().run(request).error?.kind == .invalidRequest)
  }

  @Test(arguments: ["ftp://127.0.0.1/feed", "file:///etc/passwd", "feed", "gopher://127.0.0.1/"])
  func `a URL that isn't HTTP is refused`(address: String) {
    #expect(HTTPBench().run(URL(string: address)!).error?.kind == .invalidRequest)
  }

  @Test(arguments: ["htps://ann:secret@127.0.0.1/", "ann:secret@127.0.0.1/", "http:/ann:secret@127.0.0.1/"])
  func `an error about a URL that isn't HTTP doesn't contain its password`(address: String) throws {
    let error = try #require(HTTPBench().run(URL(string: address)!).error)
    #expect(error.kind == .invalidRequest)
    #expect(!"\(error)".contains("secret") && !error.host.contains("secret"))
  }

  @Test func `a body of unknown length ends with the connection`() {
    let origin = RawOrigin.sending("HTTP/1.0 200 OK\r\n\r\nuntil it closes")
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == Data("until it closes".utf8))
  }

  @Test func `a chunked body with trailers is read`() {
    let origin = RawOrigin.sending(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\nX-Sum: 6\r\n\r\n")
    defer { origin.stop() }
    let response = HTTPBench().run(origin.url()).response
    #expect(response?.body == Data("onetwo".utf8))
    #expect(response?.headers["X-Sum"] == nil)
  }

  @Test func `informational responses are skipped, and folded headers unfolded`() {
    let origin = RawOrigin.sending(
      "HTTP/1.1 103 Early Hints\r\nLink: early\r\n\r\nHTTP/1.1 200 OK\r\nX-Folded: one\r\n two\r\nContent-Length: 0\r\n\r\n"
    )
    defer { origin.stop() }
    let response = HTTPBench().run(origin.url()).response
    #expect(response?.status == 200)
    #expect(response?.headers["Link"] == nil)
    #expect(response?.headers["X-Folded"] == "one two")
  }

  @Test func `a large body arrives completely`() {
    let body = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], body) }
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == body)
  }
}

// MARK: - Order

extension HTTPAnswerTests {
  @Test func `no request is made without a subscriber and demand`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let publisher = bench.client.get(HTTPRequest(origin.url()))
    bench.loop.run()
    #expect(origin.accepted == 0)

    let probe = HTTPProbe(demand: .none)
    publisher.subscribe(probe)
    bench.loop.run()
    #expect(origin.accepted == 0)
    #expect(probe.heardNothing)

    probe.subscription?.request(.max(1))
    bench.loop.run()
    #expect(origin.accepted == 1)
    #expect(probe.response?.status == 200)
    #expect(probe.isFinished)
  }

  @Test func `each subscription makes one request, whatever its demand`() {
    let count = Atomic(0)
    let origin = RawOrigin.answering { _ in
      count.add(1, ordering: .relaxed)
      return RawOrigin.answer()
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    let publisher = bench.client.get(HTTPRequest(origin.url()))
    let probes = (0..<3).map { _ in HTTPProbe() }
    for probe in probes {
      publisher.subscribe(probe)
      probe.subscription?.request(.unlimited)
    }
    bench.loop.run()
    #expect(count.load(ordering: .relaxed) == 3)
    for probe in probes { #expect(probe.responses.count == 1 && probe.isFinished) }
  }

  @Test func `a client reuses its connection`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("200 OK", [], Data("again".utf8)) }
    defer { origin.stop() }
    let bench = HTTPBench()
    for _ in 0..<20 { #expect(bench.run(origin.url()).response?.status == 200) }
    #expect(origin.accepted == 1)
  }

  @Test func `a client reconnects when the server has closed an idle connection`() {
    let origin = RawOrigin.sending(RawOrigin.answer("200 OK", [], Data("once".utf8)))
    defer { origin.stop() }
    let bench = HTTPBench()
    for _ in 0..<5 {
      let probe = bench.run(origin.url())
      #expect(probe.response?.body == Data("once".utf8), "\(String(describing: probe.error))")
    }
    #expect(origin.accepted == 5)
  }

  @Test func `a request made while a response is delivered runs`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer() }
    defer { origin.stop() }
    let bench = HTTPBench()
    let first = HTTPProbe()
    var second: HTTPProbe?
    first.onEnd = { second = bench.get(HTTPRequest(origin.url())) }
    bench.client.get(HTTPRequest(origin.url())).subscribe(first)
    bench.loop.run()
    #expect(second?.isFinished == true)
    #expect(origin.accepted == 1)
  }
}
