import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Tests of the exact bytes on a connection.
@Suite(.settled) struct ConversationTests {
  static let date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

  static func ok(_ body: String, closes: Bool = false) -> String {
    "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\n\(date)Content-Length: \(body.utf8.count)\r\n"
      + (closes ? "Connection: close\r\n" : "") + "\r\n\(body)"
  }

  private static func get(_ path: String, _ fields: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n"
  }

  private static func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }

  @Test func `a request gets a response, and the connection is kept for the next one`() {
    let bench = Bench().serve { .text($0.path) }
    let client = bench.send(Self.get("/a"))
    #expect(client.receive() == Self.ok("/a"))
    client.send(Self.get("/b"))
    bench.settle()
    #expect(client.receive() == Self.ok("/b"))
    #expect(!client.isClosed)
    bench.end()
    #expect(client.isClosed)
  }

  @Test func `a request is parsed however its bytes are split`() {
    let text = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc" + Self.get("/b")
    for cut in 0...text.utf8.count {
      let bench = Bench().serve { request in request.body.whole().map { .text("\(request.path) \($0.text)") } }
      let client = bench.send(text, cuttingAt: cut)
      #expect(client.receive() == Self.ok("/a abc") + Self.ok("/b "), "cut at \(cut)")
      bench.end()
    }
  }

  @Test func `pipelined requests get responses in order, in one write if possible`() {
    let bench = Bench().serve { .text($0.path) }
    let client = bench.send((1...20).map { Self.get("/\($0)") }.joined())
    #expect(client.receive() == (1...20).map { Self.ok("/\($0)") }.joined())
    #expect(client.writes == 1)
    bench.end()
  }

  @Test func `a slow response delays the responses after it`() {
    let bench = Bench()
    var asked: [String] = []
    _ = bench.serve { [time = bench.time] request in
      asked.append(request.path)
      return Just(ServerResponse.text(request.path)).delay(for: request.path == "/slow" ? 5 : 0, scheduler: time)
    }
    let client = bench.send(Self.get("/slow") + Self.get("/fast"))
    #expect(asked == ["/slow"])
    bench.pass(.seconds(5))
    bench.settle()
    #expect(asked == ["/slow", "/fast"])
    #expect(client.receive() == Self.ok("/slow") + Self.ok("/fast"))
    bench.end()
  }

  @Test func `the server reads ahead at most readAheadBytes`() {
    let subject = PassthroughSubject<ServerResponse, Never>()
    let bench = Bench { $0.readAheadBytes = 100 }.serve { _ in subject }
    let client = bench.send(Self.get("/"))
    for _ in 0..<10 { client.send(String(repeating: "x", count: 60)) }
    bench.settle()
    #expect(client.unread >= 8)
    bench.end()
  }

  @Test func `with Connection: close, the server ends writing after the response, then closes`() {
    let bench = Bench().serve { .text($0.path) }
    let client = bench.send(Self.get("/", "Connection: close\r\n") + Self.get("/never"))
    #expect(client.receive() == Self.ok("/", closes: true))
    #expect(client.hasEndedWriting && !client.isClosed)
    client.send("still talking")
    client.endInput()
    #expect(client.isClosed)
    bench.end()
  }

  @Test func `a client that keeps its connection open after Connection: close is disconnected`() {
    let bench = Bench().serve { .text($0.path) }
    let client = bench.send(Self.get("/", "Connection: close\r\n"))
    bench.pass(.seconds(3))
    #expect(client.isClosed)
    bench.end()
  }

  @Test func `an HTTP/1.0 connection closes after the response, except with keep-alive`() {
    let bench = Bench().serve { _ in .text("hi") }
    #expect(bench.send("GET / HTTP/1.0\r\n\r\n").receive() == Self.ok("hi", closes: true))
    let kept = bench.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(kept.receive().contains("Connection: keep-alive\r\n"))
    #expect(!kept.hasEndedWriting)
    bench.end()
  }

  @Test func `a body of unknown length is chunked, and ends with the connection for HTTP/1.0`() {
    let bench = Bench().serve { _ in .init(body: [Chunk("ab"), Chunk(""), Chunk("cde")].publisher) }
    #expect(
      bench.send(Self.get("/")).receive()
        == "HTTP/1.1 200 OK\r\n\(Self.date)Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n0\r\n\r\n")
    let old = bench.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(old.receive() == "HTTP/1.1 200 OK\r\n\(Self.date)Connection: close\r\n\r\nabcde")
    #expect(old.hasEndedWriting)
    bench.end()
  }

  @Test func `HEAD gets GET's header without a body, and the next response follows`() {
    let bench = Bench().serve {
      $0.path == "/s" ? .init(body: [Chunk("ab")].publisher) : .text("hello")
    }
    let client = bench.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\nHEAD /s HTTP/1.1\r\nHost: h\r\n\r\n" + Self.get("/"))
    let header = String(Self.ok("hello").dropLast(5))
    #expect(client.receive() == header + "HTTP/1.1 200 OK\r\n\(Self.date)\r\n" + Self.ok("hello"))
    bench.end()
  }

  @Test func `statuses without a body have none`() {
    let bench = Bench().serve { $0.path == "/a" ? .init(.noContent, body: "x") : .init(.notModified, body: "x") }
    #expect(
      bench.send(Self.get("/a") + Self.get("/b")).receive()
        == "HTTP/1.1 204 No Content\r\n\(Self.date)\r\nHTTP/1.1 304 Not Modified\r\n\(Self.date)\r\n")
    bench.end()
  }

  @Test func `a header value with line breaks becomes a 500 response`() {
    for value in ["a\r\nSet-Cookie: b", "a\nb", "a\u{0}b"] {
      let bench = Bench().serve { _ in .init(headers: ["X": value], body: "secret") }
      let answer = bench.send(Self.get("/")).receive()
      #expect(Self.status(answer) == "500")
      #expect(!answer.contains("Set-Cookie") && !answer.contains("secret"))
      bench.end()
    }
  }

  @Test func `a response can't override Content-Length or Transfer-Encoding`() {
    let headers: HTTPHeaders = ["Content-Length": "99", "Transfer-Encoding": "chunked", "Date": "today"]
    let bench = Bench().serve { _ in .init(headers: headers, body: "x") }
    #expect(bench.send(Self.get("/")).receive() == "HTTP/1.1 200 OK\r\nDate: today\r\nContent-Length: 1\r\n\r\nx")
    bench.end()
  }

  @Test func `a response with Connection: close closes the connection`() {
    let bench = Bench().serve { _ in .init(headers: ["Connection": "close"], body: "x") }
    let client = bench.send(Self.get("/"))
    #expect(client.receive().contains("Connection: close\r\n"))
    #expect(client.hasEndedWriting)
    bench.end()
  }

  @Test func `a thrown status is the response, and other errors and missing responses become 500`() {
    struct Oops: Error {}
    let bench = Bench().serve { (request) throws in
      switch request.path {
      case "/status": throw HTTPStatus.forbidden
      default: throw Oops()
      }
    }
    let answers = bench.send(Self.get("/status") + Self.get("/oops")).receive()
    #expect(answers.contains("403 Forbidden") && answers.contains("500 Internal Server Error"))
    bench.end()
    let other = Bench()
    let ignoring = other.server.requests.sink { _ in }
    #expect(Self.status(other.send(Self.get("/")).receive()) == "500")
    ignoring.cancel()
    other.end()
    let empty = Bench().serve { _ in Empty<ServerResponse, Never>() }
    #expect(Self.status(empty.send(Self.get("/")).receive()) == "500")
    empty.end()
  }

  @Test func `a second response is ignored`() {
    let bench = Bench()
    let twice = bench.server.requests.sink { request in
      request.respond(.text("a"))
      request.respond(.text("b"))
    }
    #expect(bench.send(Self.get("/")).receive() == Self.ok("a"))
    twice.cancel()
    bench.end()
  }

  @Test func `a malformed request gets an error response, and its connection closes`() {
    let bench = Bench().serve { .text($0.path) }
    let client = bench.send(Self.get("/a") + "GET / HTTP/1.1\r\nHost : h\r\n\r\n" + Self.get("/b"))
    let answer = client.receive()
    #expect(answer.hasPrefix(Self.ok("/a") + "HTTP/1.1 400 Bad Request\r\n"))
    #expect(answer.hasSuffix("Connection: close\r\n\r\n400 Bad Request: space before the colon of a header field\n"))
    #expect(client.hasEndedWriting)
    client.send(Self.get("/c"))
    bench.settle()
    #expect(client.receive() == "")
    bench.end()
  }

  @Test func `a smuggled request isn't handled`() {
    var paths: [String] = []
    let bench = Bench().serve { request in
      paths.append(request.path)
      return .text("")
    }
    bench.send(
      "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: h\r\n\r\n"
    )
    bench.send(
      "POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nGET /d HTTP/1.1\r\nHost: h\r\n\r\n")
    bench.send("POST /e HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\nGET /f HTTP/1.1\r\n\r\n")
    #expect(paths == ["/e"])
    bench.end()
  }

  @Test func `CONNECT is refused`() {
    let bench = Bench().serve { _ in .text("") }
    let client = bench.send("CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n")
    #expect(Self.status(client.receive()) == "501")
    #expect(client.hasEndedWriting)
    bench.end()
  }

  @Test func `a client that disconnects cancels its pending response`() {
    var cancelled = 0
    let bench = Bench().serve { _ in
      PassthroughSubject<ServerResponse, Never>().handleEvents(receiveCancel: { cancelled += 1 })
    }
    let client = bench.send(Self.get("/"))
    client.breakOff()
    #expect(cancelled == 1)
    #expect(bench.server.connectionCount == 0)
    bench.end()
  }

  @Test func `a client that only closes its sending side gets its response`() {
    let bench = Bench()
    _ = bench.serve { [time = bench.time] _ in Just(ServerResponse.text("hi")).delay(for: 1, scheduler: time) }
    let client = bench.send(Self.get("/"))
    client.endInput()
    bench.pass(.seconds(1))
    bench.settle()
    #expect(client.receive() == Self.ok("hi"))
    #expect(client.isClosed)
    bench.end()
  }

  @Test func `a handler can read each part of a request`() {
    var seen: [String] = []
    let bench = Bench().serve { request in
      seen = [
        "\(request.method)", request.target, request.path, request.query ?? "-", request.host ?? "-", request.version,
        "\(request.peer)", request.headers["x-a"] ?? "-", "\(request.headers.values(of: "X-A"))",
        request.query("b") ?? "-", request.query("c") ?? "-", request.query("d") ?? "-",
      ]
      return .text("")
    }
    bench.send("PURGE /a%20b?b=x+y%21&c HTTP/1.1\r\nHost: h:1\r\nX-A: 1\r\nx-a: 2\r\n\r\n")
    #expect(
      seen == [
        "PURGE", "/a%20b?b=x+y%21&c", "/a%20b", "b=x+y%21&c", "h:1", "1.1", "192.0.2.1:4711", "1", "[\"1\", \"2\"]",
        "x y!", "", "-",
      ])
    bench.end()
  }
}
