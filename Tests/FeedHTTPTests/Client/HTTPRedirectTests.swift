import Foundation
import Synchronization
import TestSupport
import Testing

@testable import FeedHTTP
@testable import HTTPTestSupport

@Suite(.settled) struct HTTPRedirectTests {
  private func redirecting(_ status: String, to place: @escaping @Sendable (String) -> String?) -> RawOrigin {
    .answering { request in
      guard let target = place(request.path) else { return RawOrigin.answer("200 OK", [], Data(request.path.utf8)) }
      return RawOrigin.answer(status, ["Location: \(target)"], Data("<p>moved</p>".utf8))
    }
  }

  @Test(arguments: ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
  func `a redirect is followed`(status: String) {
    let origin = redirecting(status) { $0 == "/feed" ? "/moved" : nil }
    defer { origin.stop() }
    let response = HTTPBench().run(origin.url()).response
    #expect(response?.body == Data("/moved".utf8))
    #expect(response?.url == origin.url("/moved"))
    #expect(response?.headers["Location"] == nil)
  }

  @Test(arguments: [
    ("/a b%20c", "/a%20b%20c"), ("/\u{E9}%20b?q=a%26b", "/%C3%A9%20b?q=a%26b"),
    ("/x%2Fy?q=1|2%26", "/x%2Fy?q=1%7C2%26"),
    ("/100%", "/100%25"), ("/a[b]%20?q=[1]%26", "/a%5Bb%5D%20?q=%5B1%5D%26"), ("/a%2", "/a%252"),
    ("a//b c%20d", "/a//b%20c%20d"),
  ]) func `a redirect's invalid characters are escaped, and its escapes are kept`(location: String, path: String) {
    let origin = redirecting("302 Found") { $0 == "/feed" ? location : nil }
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == Data(path.utf8))
  }

  @Test func `a folded Location is followed`() {
    let origin = redirecting("302 Found") { $0 == "/feed" ? "\r\n /moved" : nil }
    defer { origin.stop() }
    #expect(HTTPBench().run(origin.url()).response?.body == Data("/moved".utf8))
  }

  @Test(
    arguments: [["Location : /moved"], ["Location: /moved", "Location:"], ["Location:", " /moved"]], ["", "moved"])
  func `a streamed redirect is followed, however its header spells the target`(fields: [String], body: String) {
    let origin = RawOrigin.answering { request in
      request.path == "/feed"
        ? RawOrigin.answer("302 Found", fields, Data(body.utf8))
        : RawOrigin.answer("200 OK", ["X-Name: value"], Data(request.path.utf8))
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    let probe = StreamProbe(bench.client.open(HTTPRequest(origin.url())))
    bench.loop.run()
    #expect(probe.response?.status == 200 && probe.response?.headers["X-Name"] == "value")
    #expect(probe.response?.url == origin.url("/moved"))
    #expect(probe.bytes == Data("/moved".utf8) && probe.completion == .finished)
  }

  @Test func `a redirect without a target is a response`() {
    let origin = RawOrigin.answering { _ in RawOrigin.answer("302 Found", ["Location: "], Data("here".utf8)) }
    defer { origin.stop() }
    let response = HTTPBench().run(origin.url()).response
    #expect(response?.status == 302 && response?.body == Data("here".utf8))
  }

  @Test func `the trailers of an empty body are ignored`() {
    let origin = RawOrigin.answering { request in
      let lengths = "Content-Length: 3\r\nContent-Length: 4\r\n"
      let trailers = "Location: /x\r\nSet-Cookie: a=b\r\n\(lengths)HTTP/1.1 404: x\r\nX-Trailer: 1\r\n"
      return Data("HTTP/1.1 302 Found\r\nTransfer-Encoding: chunked\r\nX-One: 1\r\n\r\n0\r\n\(trailers)\r\n".utf8)
    }
    defer { origin.stop() }
    let response = HTTPBench().run(origin.url()).response
    #expect(response?.status == 302 && response?.body.isEmpty == true)
    #expect(response?.headers["X-One"] == "1")
    for name in ["Location", "Set-Cookie", "Content-Length", "X-Trailer"] { #expect(response?.headers[name] == nil) }
  }

  @Test func `ten redirects are followed, and no more`() {
    let origin = redirecting("302 Found") { path in
      let step = Int(path.dropFirst()) ?? 0
      return step == 0 ? nil : "/\(step - 1)"
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    #expect(bench.run(origin.url("/10")).response?.body == Data("/0".utf8))
    #expect(bench.run(origin.url("/11")).error?.kind == .tooManyRedirects(limit: 10))
  }

  @Test func `a redirect loop is stopped`() {
    let origin = redirecting("302 Found") { $0 }
    defer { origin.stop() }
    let error = HTTPBench().run(origin.url()).error
    #expect(error?.kind == .tooManyRedirects(limit: 10))
    #expect(error?.cause == "")
  }

  @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/feed", "gopher://127.0.0.1:70/1", "data:,feed", "http://"])
  func `a redirect to anything but HTTP is refused`(target: String) {
    let origin = redirecting("302 Found") { _ in target }
    defer { origin.stop() }
    let error = HTTPBench().run(origin.url()).error
    #expect(error?.kind == .redirectRefused, "\(String(describing: error))")
    #expect(error?.host == "127.0.0.1:\(origin.port)")
  }

  @Test func `credentials aren't sent to another host after a redirect`() throws {
    let seen = Mutex<RawOrigin.Request?>(nil)
    let other = RawOrigin.answering { request in
      seen.withLock { $0 = request }
      return RawOrigin.answer()
    }
    defer { other.stop() }
    let first = Mutex<RawOrigin.Request?>(nil)
    let target = "http://localhost:\(other.port)/feed"
    let origin = RawOrigin.answering { request in
      first.withLock { $0 = request }
      return RawOrigin.answer("302 Found", ["Location: \(target)"])
    }
    defer { origin.stop() }
    let url = URL(string: "http://user:secret@127.0.0.1:\(origin.port)/feed")!
    let bench = HTTPBench()
    #expect(bench.run(url).response?.status == 200)
    #expect(first.withLock { $0?["Authorization"] } != nil)
    #expect(try #require(seen.withLock { $0 })["Authorization"] == nil)

    let fields = [
      HTTPRequest.Header(name: "Authorization", value: "Bearer x"), HTTPRequest.Header(name: "Cookie", value: "id=1"),
    ]
    #expect(bench.run(HTTPRequest(origin.url(), headers: fields)).response?.status == 200)
    #expect(first.withLock { $0?["Cookie"] } == "id=1")
    let request = try #require(seen.withLock { $0 })
    #expect(request["Authorization"] == nil)
    #expect(request["Cookie"] == nil)
  }

  @Test func `credentials in a redirect's URL aren't sent`() throws {
    let seen = Mutex<[RawOrigin.Request]>([])
    let other = RawOrigin.answering { request in
      seen.withLock { $0.append(request) }
      return RawOrigin.answer()
    }
    defer { other.stop() }
    for host in ["localhost", "127.0.0.1"] {
      let origin = RawOrigin.answering { _ in
        RawOrigin.answer("302 Found", ["Location: http://admin:admin@\(host):\(other.port)/"])
      }
      defer { origin.stop() }
      let response = HTTPBench().run(origin.url()).response
      #expect(response?.url.absoluteString == "http://\(host):\(other.port)/")
    }
    #expect(seen.withLock { $0.map { $0["Authorization"] } } == [nil, nil])
  }

  @Test func `secret header fields follow redirects only within their origin`() throws {
    let seen = Mutex<[RawOrigin.Request]>([])
    let other = RawOrigin.answering { request in
      seen.withLock { $0.append(request) }
      return RawOrigin.answer()
    }
    defer { other.stop() }
    let target = other.url().absoluteString
    let origin = RawOrigin.answering { request in
      seen.withLock { $0.append(request) }
      return RawOrigin.answer("302 Found", ["Location: \(request.path == "/feed" ? "/moved" : target)"])
    }
    defer { origin.stop() }
    let fields = [
      HTTPRequest.Header(name: "X-Key", value: "secret"), .init(name: "Accept", value: "text/a"),
      .init(name: "If-None-Match", value: "\"x\""), .init(name: "If-Range", value: "\"y\""),
      .init(name: "Range", value: "bytes=0-9"),
    ]
    let response = HTTPBench().run(HTTPRequest(origin.url(), headers: fields)).response
    let requests = seen.withLock { $0 }
    #expect(requests.map { $0["X-Key"] } == ["secret", "secret", nil])
    #expect(requests.map { $0["Accept"] } == ["text/a", "text/a", "text/a"])
    #expect(requests.map { $0["If-None-Match"] } == ["\"x\"", "\"x\"", "\"x\""])
    #expect(requests.map { $0["If-Range"] } == ["\"y\"", "\"y\"", "\"y\""])
    #expect(requests.map { $0["Range"] } == ["bytes=0-9", "bytes=0-9", "bytes=0-9"])
    #expect(response?.redirects.map(\.from.path) == ["/feed", "/moved"])
    #expect(response?.redirects.last?.to == other.url())
  }

  @Test(.timeLimit(.minutes(5))) func `events after a redirect to another origin resume after the last one`() {
    let ids = Mutex<[String?]>([])
    let events = RawOrigin { connection in
      let request = try connection.readRequest()
      let count = ids.withLock {
        $0.append(request["Last-Event-ID"])
        return $0.count
      }
      guard count == 1 else { return try connection.send("HTTP/1.1 204 No Content\r\n\r\n") }
      let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
      try connection.send(head + "retry: 1\nid: 7\ndata: a\n\n")
    }
    let door = redirecting("307 Temporary") { [url = events.url().absoluteString] _ in url }
    defer {
      events.stop()
      door.stop()
    }
    let bench = HTTPBench()
    let seen = Outcome(bench.client.events(at: door.url()))
    bench.loop.run()
    #expect(seen.values.map(\.data) == ["a"] && seen.isFinished)
    #expect(ids.withLock { $0 } == [nil, "7"])
  }

  @Test func `credentials in a URL follow redirects only within their origin`() throws {
    let seen = Mutex<[String?]>([])
    let origin = RawOrigin.answering { request in
      seen.withLock { $0.append(request["Authorization"]) }
      return request.path == "/feed" ? RawOrigin.answer("301 Moved", ["Location: /moved"]) : RawOrigin.answer()
    }
    defer { origin.stop() }
    let url = try #require(URL(string: "http://user:secret@127.0.0.1:\(origin.port)/feed"))
    #expect(HTTPBench().run(url).response?.status == 200)
    #expect(seen.withLock { $0 } == ["Basic dXNlcjpzZWNyZXQ=", "Basic dXNlcjpzZWNyZXQ="])
  }

  @Test func `without followsRedirects, the redirect is delivered`() {
    let origin = redirecting("301 Moved") { _ in "/moved" }
    defer { origin.stop() }
    var request = HTTPRequest(origin.url())
    request.followsRedirects = false
    let response = HTTPBench().run(request).response
    #expect(response?.status == 301)
    #expect(response?.headers["Location"] == "/moved")
    #expect(response?.body == Data("<p>moved</p>".utf8))
  }

  @Test func `the body of a redirect is neither awaited nor limited`() {
    let origin = RawOrigin { connection in
      let request = try connection.readRequest()
      guard request.path == "/feed" else {
        return try connection.send(RawOrigin.answer("200 OK", [], Data("feed".utf8)))
      }
      try connection.send("HTTP/1.1 302 Found\r\nLocation: /moved\r\nContent-Encoding: gzip\r\n\r\n")
      while true { try connection.send(Data(count: 16 << 10)) }
    }
    defer { origin.stop() }
    #expect(HTTPBench().run(HTTPRequest(origin.url(), maxBodyBytes: 100)).response?.body == Data("feed".utf8))
  }

  /// An origin whose redirect has a field and no body, and whose connection stays open.
  private func redirectingWithoutBody(_ field: String) -> RawOrigin {
    RawOrigin { connection in
      guard try connection.readRequest().path == "/feed" else {
        return try connection.send(RawOrigin.answer("200 OK", [], Data("feed".utf8)))
      }
      try connection.send("HTTP/1.1 302 Found\r\nLocation: /moved\r\n\(field)\r\n\r\n")
      connection.waitForClose()
    }
  }

  @Test(arguments: ["Connection: close", "Content-Length: 20"])
  func `a redirect is followed although its body doesn't come`(field: String) {
    let origin = redirectingWithoutBody(field)
    defer { origin.stop() }
    #expect(HTTPBench().run(HTTPRequest(origin.url(), timeout: .seconds(20))).response?.body == Data("feed".utf8))
  }

  @Test func `clients that follow redirects themselves don't await their bodies either`() {
    let origin = redirectingWithoutBody("Connection: close")
    defer { origin.stop() }
    let bench = HTTPBench()
    let request = HTTPRequest(origin.url(), timeout: .seconds(20))
    let cookies = bench.client.withCookies(in: CookieJar(suffixes: PublicSuffixes()))
    for client in [cookies, bench.client.cached(in: MemoryHTTPCache())] as [any HTTPClient] {
      let probe = HTTPProbe()
      client.get(request).subscribe(probe)
      bench.loop.run()
      #expect(probe.response?.body == Data("feed".utf8))
    }
    var status: Int?
    let opening = cookies.open(request).sink { _ in
    } receiveValue: {
      status = $0.status
    }
    bench.loop.run()
    #expect(status == 200)
    opening.cancel()
  }

  @Test func `the timeout of a request isn't shortened by a redirect, nor extended`() {
    let origin = RawOrigin { connection in
      let step = Int(try connection.readRequest().path.dropFirst()) ?? 0
      guard step < 3 else { return connection.waitForClose() }
      try connection.send("HTTP/1.1 302 Found\r\nLocation: /\(step + 1)\r\nContent-Length: 20\r\n\r\n")
      connection.waitForClose()
    }
    defer { origin.stop() }
    let clock = ContinuousClock()
    let began = clock.now
    let error = HTTPBench().run(HTTPRequest(origin.url(), timeout: .seconds(4))).error
    // On a busy machine, the time may end while the client still waits for the last redirect's body.
    #expect(error?.kind == .timedOut(.response) || error?.kind == .timedOut(.receive))
    // If the waits for the redirects' bodies extended it, it would be 7 seconds.
    #expect((Duration.seconds(3.9)..<Duration.seconds(6.5)).contains(clock.now - began))
  }

  @Test func `redirects share the timeout and the limits of their request`() {
    let origin = RawOrigin.answering { request in
      let step = Int(request.path.dropFirst(5)) ?? 0
      usleep(150_000)
      return RawOrigin.answer("302 Found", ["Location: /step\(step + 1)", "X: \(String(repeating: "x", count: 1000))"])
    }
    defer { origin.stop() }
    let late = HTTPBench().run(HTTPRequest(origin.url("/step0"), timeout: .milliseconds(400)))
    // On a busy machine, the time may end while the client still connects.
    #expect(late.error?.kind == .timedOut(.response) || late.error?.kind == .timedOut(.connect))
    let large = HTTPBench { $0.maxHeaderBytes = 2500 }.run(origin.url("/step0"))
    #expect(large.error?.kind == .headersTooLarge)
  }

  @Test func `without decompression, a body is delivered as sent`() {
    let seen = Mutex<[String?]>([])
    let body = Compression.gzip(Data("feed".utf8))
    let origin = RawOrigin.answering { request in
      seen.withLock { $0.append(request["Accept-Encoding"]) }
      return RawOrigin.answer("200 OK", ["Content-Encoding: gzip"], body)
    }
    defer { origin.stop() }
    let bench = HTTPBench()
    var request = HTTPRequest(origin.url())
    #expect(bench.run(request).response?.body == Data("feed".utf8))
    request.decodesContent = false
    #expect(bench.run(request).response?.body == body)
    request.headers = [.init(name: "Accept-Encoding", value: "gzip")]
    #expect(bench.run(request).response?.body == body)
    request.decodesContent = true
    #expect(bench.run(HTTPRequest(origin.url())).response?.body == Data("feed".utf8))
    let offers = seen.withLock { $0 }
    #expect(offers[0]?.contains("gzip") == true && offers[1] == nil && offers[2] == "gzip" && offers[3] == offers[0])
  }
}
