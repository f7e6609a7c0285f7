import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// Slow clients, in virtual time: a deadline fires within a second of its time, never before it.
@Suite(.settled) struct DeadlineTests {
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
  private static func status(_ answer: String) -> String { String(answer.dropFirst(9).prefix(3)) }

  /// The seconds until the server closes the connection or its sending side.
  private func patience(_ bench: Bench, _ client: MemoryChannel, each second: (Int) -> Void = { _ in }) -> Int {
    for passed in 0..<1_000 {
      if client.isClosed || client.hasEndedWriting { return passed }
      second(passed)
      bench.pass(.seconds(1))
    }
    return 1_000
  }

  @Test func `a connection waits at most a minute for its first and each later request`() {
    let bench = Bench().serve { _ in .text("") }
    let silent = bench.send()
    #expect((60...61).contains(patience(bench, silent)))
    #expect(silent.receive() == "")
    let kept = bench.send(Self.get)
    bench.pass(.seconds(50))
    kept.send(Self.get)
    #expect((60...61).contains(patience(bench, kept)))
    bench.end()
  }

  @Test func `upgraded connections have no deadline, and the other connections keep theirs`() {
    var routes = HTTPRoutes()
    var kept: [Any] = []
    routes.get("/other") { _ in .upgrade(to: "other", headers: [:]) { kept.append($0) } }
    routes.get("/") { _ in .text("") }
    let bench = Bench().serve(routes)
    let upgrade = "GET /other HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n"
    var silent: [MemoryChannel] = []
    var others: [MemoryChannel] = []
    for _ in 0..<4 {
      silent.append(bench.send())
      others.append(bench.send(upgrade))
      silent.append(bench.send(Self.get))
    }
    #expect(others.allSatisfy { $0.receive().hasPrefix("HTTP/1.1 101") })
    bench.pass(.seconds(59))
    #expect(silent.allSatisfy { !$0.isClosed && !$0.hasEndedWriting })
    bench.pass(.seconds(3))
    #expect(silent.allSatisfy { $0.isClosed || $0.hasEndedWriting })
    let late = bench.send()
    others.append(bench.send(upgrade))
    #expect((60...61).contains(patience(bench, late)))
    #expect(kept.count == 5 && others.allSatisfy { !$0.isClosed && !$0.hasEndedWriting })
    bench.end()
    #expect(bench.server.connectionCount == 0)
  }

  @Test func `the end of a connection may wait for the client as long as a write, before the server lingers`() {
    let bench = Bench().serve { _ in .text("") }
    let (slow, gone) = (bench.send(), bench.send())
    for client in [slow, gone] {
      client.takesEnd = false
      client.send("GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
    }
    bench.pass(.seconds(20))
    #expect(slow.hasEndedWriting && !slow.isClosed)
    slow.takesEnd = true
    bench.pass(.seconds(1))
    #expect(!slow.isClosed)
    bench.pass(.seconds(2))
    #expect(slow.isClosed && !gone.isClosed)
    bench.pass(.seconds(8))
    #expect(gone.isClosed)
    bench.end()
  }

  @Test func `an empty line after a request doesn't start the next request's deadline`() {
    let bench = Bench().serve { _ in .text("") }
    let client = bench.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi\r\n")
    _ = client.receive()
    bench.pass(.seconds(50))
    #expect(!client.hasEndedWriting && client.receive() == "")
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    bench.settle()
    #expect(client.receive().hasPrefix("HTTP/1.1 200"))
    client.send("\r\n")
    bench.settle()
    bench.server.shutdown()
    bench.settle()
    #expect(client.hasEndedWriting && client.receive() == "")
    bench.end()
  }

  @Test func `a request header must be complete ten seconds after its first byte`() {
    let bench = Bench().serve { _ in .text("") }
    let client = bench.send()
    bench.pass(.seconds(50))
    let text = Array("GET / HTTP/1.1\r\nHost: h\r\nX: slow\r\n\r\n".utf8)
    #expect((10...11).contains(patience(bench, client) { client.send(Chunk([text[$0]])) }))
    #expect(Self.status(client.receive()) == "408")
    bench.end()
  }

  @Test func `a request body has a minimum rate after ten seconds, counted only while it is requested`() {
    let bench = Bench().serve { request in request.body.whole().map { .text($0.text) } }
    let post = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n"
    let silent = bench.send(post)
    #expect((10...11).contains(patience(bench, silent)))
    #expect(Self.status(silent.receive()) == "408")
    let dripping = bench.send(post)
    // One byte per second is 240 times too slow.
    #expect((10...11).contains(patience(bench, dripping) { _ in dripping.send("x") }))
    let steady = bench.send(post)
    let long = patience(bench, steady) { if $0 < 300 { steady.send(String(repeating: "x", count: 300)) } }
    #expect(long > 300)
    bench.end()
    let unwanted = Bench().serve { request in PassthroughSubject<ServerResponse, Never>() }
    let waiting = unwanted.send(post)
    unwanted.pass(.seconds(500))
    #expect(!waiting.isClosed)
    unwanted.end()
  }

  @Test func `a passed deadline may release the server`() {
    let time = VirtualTimeScheduler()
    let backlog = Backlog()
    var server: HTTPServer? = HTTPServer(backlog, on: time)
    var (serving, reading): (AnyCancellable?, AnyCancellable?)
    serving = server!.serve { request in
      reading = request.body.whole().sink { _ in
        (serving, server) = (nil, nil)
      } receiveValue: { _ in
      }
      return PassthroughSubject<ServerResponse, Never>()
    }
    let client = MemoryChannel(on: time, peer: .internet("192.0.2.1", port: 1))
    client.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n")
    backlog.add(Connection(client, to: client.peer))
    time.advance(by: .seconds(30))
    #expect(server == nil && client.isClosed)
    withExtendedLifetime((serving, reading)) {}
  }

  @Test func `a client that doesn't read its response is disconnected`() {
    let bench = Bench().serve { _ in .text(String(repeating: "x", count: 2_400)) }
    let client = bench.connect()
    client.takes = false
    client.send(Self.get)
    // Ten seconds for the bytes, and thirty more.
    #expect((40...42).contains(patience(bench, client)))
    bench.end()
  }

  @Test func `a client that stops reading stops the producer of its response`() {
    var produced = 0
    let bench = Bench { $0.bufferedBytes = 1_000 }.serve { _ in
      let endless = repeatElement(Chunk(repeatElement(1, count: 100)), count: .max).publisher
      return .init(body: endless.handleEvents(receiveOutput: { _ in produced += 1 }))
    }
    let client = bench.connect()
    client.takes = false
    client.send(Self.get)
    bench.settle()
    #expect((8...12).contains(produced))
    // The client accepts one write.
    client.takes = true
    client.takes = false
    bench.settle()
    #expect((16...24).contains(produced))
    bench.end()
  }

  @Test func `pipelined requests wait while responses aren't read`() {
    var asked = 0
    let bench = Bench { $0.bufferedBytes = 1_000 }.serve { _ in
      asked += 1
      return .text(String(repeating: "x", count: 500))
    }
    let client = bench.connect()
    client.takes = false
    client.send(String(repeating: Self.get, count: 100))
    bench.settle()
    #expect(asked <= 4)
    client.takes = true
    for _ in 0..<100 { bench.settle() }
    #expect(asked == 100)
    bench.end()
  }

  @Test func `without demand, no connection is accepted, and requests wait in order`() {
    let bench = Bench()
    var subscription: (any Subscription)?
    var paths: [String] = []
    bench.server.requests.subscribe(
      AnySubscriber(
        receiveSubscription: {
          subscription = $0
          $0.request(.max(1))
        },
        receiveValue: { request in
          paths.append(request.path)
          request.respond(.text(""))
          return .none
        }))
    for name in ["a", "b", "c"] { bench.send("GET /\(name) HTTP/1.1\r\nHost: h\r\n\r\n") }
    #expect(paths == ["/a"])
    #expect(bench.server.connectionCount <= 2)
    #expect(bench.backlog.waiting.count >= 1)
    subscription?.request(.max(2))
    bench.settle()
    #expect(paths == ["/a", "/b", "/c"])
    subscription?.cancel()
    bench.end()
  }

  @Test func `no more connections are open than the limit`() {
    let bench = Bench { $0.connections = 2 }.serve { _ in .text("") }
    let clients = (0..<3).map { _ in bench.send() }
    #expect(bench.server.connectionCount == 2)
    clients[0].breakOff()
    bench.settle()
    #expect(bench.server.connectionCount == 2)
    clients[2].send(Self.get)
    bench.settle()
    #expect(Self.status(clients[2].receive()) == "200")
    bench.end()
  }

  @Test func `shutdown completes running requests, and closes idle connections`() {
    let bench = Bench()
    _ = bench.serve { [time = bench.time] request in
      Just(ServerResponse.text("late")).delay(for: 3, scheduler: time)
    }
    let (idle, busy, partial) = (bench.send(), bench.send(Self.get), bench.send("GET / HT"))
    var isOver = false
    let ending = bench.server.shutdown().sink { _ in
      isOver = true
    } receiveValue: { _ in
    }
    bench.settle()
    #expect(idle.hasEndedWriting)
    partial.send("TP/1.1\r\nHost: h\r\n\r\n")
    let late = bench.send(Self.get)
    #expect(late.receive() == "" && !isOver)
    bench.pass(.seconds(4))
    for client in [busy, partial] {
      let answer = client.receive()
      #expect(answer.contains("Connection: close\r\n") && answer.hasSuffix("late"))
    }
    bench.pass(.seconds(4))
    #expect(isOver)
    ending.cancel()
    bench.end()
  }

  @Test func `with a grace period, idle connections can send a last request`() {
    let bench = Bench().serve { _ in .text("last") }
    let (idle, silent) = (bench.send(), bench.send())
    bench.settle()
    var isOver = false
    let ending = bench.server.shutdown(grace: .milliseconds(200)).sink { _ in
      isOver = true
    } receiveValue: { _ in
    }
    bench.pass(.milliseconds(100))
    #expect(!idle.hasEndedWriting && !isOver)
    idle.send(Self.get)
    bench.settle()
    let answer = idle.receive()
    #expect(answer.contains("Connection: close\r\n") && answer.hasSuffix("last"), "\(answer)")
    #expect(idle.hasEndedWriting && !silent.hasEndedWriting)
    // A client that connects now is too late.
    let late = bench.send(Self.get)
    bench.pass(.milliseconds(200))
    #expect(silent.hasEndedWriting && late.receive() == "")
    bench.pass(.seconds(4))
    #expect(isOver)
    ending.cancel()
    bench.end()
  }

  @Test func `a request that arrived within the grace period gets a response, even if read later`() {
    let bench = Bench().serve { _ in .text("last") }
    let (client, empty) = (bench.send(), bench.send())
    bench.server.shutdown(grace: .milliseconds(200))
    bench.pass(.milliseconds(199))
    for client in [client, empty] { client.isHeld = true }
    client.send(Self.get)
    // An empty line is not a request.
    empty.send("\r\n")
    bench.pass(.milliseconds(1))
    #expect(!client.hasEndedWriting && !empty.hasEndedWriting)
    for client in [client, empty] { client.isHeld = false }
    bench.settle()
    let answer = client.receive()
    #expect(answer.contains("Connection: close\r\n") && answer.hasSuffix("last"), "\(answer)")
    #expect(client.hasEndedWriting && empty.hasEndedWriting && empty.receive() == "")
    bench.end()
  }

  @Test func `a connection accepted during the grace period has its own for its first request`() {
    let bench = Bench().serve { _ in .text("last") }
    bench.send()
    bench.server.shutdown(grace: .milliseconds(200))
    let (late, silent) = (bench.connect(), bench.connect())
    bench.pass(.milliseconds(300))
    #expect(!late.hasEndedWriting && !silent.hasEndedWriting)
    late.send(Self.get)
    bench.settle()
    #expect(late.receive().hasSuffix("last") && late.hasEndedWriting)
    bench.pass(.milliseconds(100))
    #expect(silent.hasEndedWriting && silent.receive() == "")
    bench.end()
  }

  @Test func `a grace period ends early when the last connection closes`() {
    let bench = Bench().serve { _ in .text("last") }
    bench.settle()
    var isOver = false
    let ending = bench.server.shutdown(grace: .seconds(5)).sink { _ in
      isOver = true
    } receiveValue: { _ in
    }
    bench.settle()
    #expect(isOver)
    ending.cancel()
    bench.end()
  }

  @Test func `a response that started before the shutdown doesn't keep its connection open`() {
    let body = PassthroughSubject<Chunk, Never>()
    let bench = Bench().serve { _ in ServerResponse(body: body, length: 6) }
    let client = bench.send(Self.get)
    bench.settle()
    body.send(Chunk("abc"))
    bench.settle()
    #expect(client.receive().contains("200"))
    let ending = bench.server.shutdown().sink { _ in }
    bench.settle()
    #expect(!client.hasEndedWriting)
    body.send(Chunk("def"))
    body.send(completion: .finished)
    bench.settle()
    #expect(client.receive() == "def" && client.hasEndedWriting)
    ending.cancel()
    bench.end()
  }

  @Test func `shutdown(within:) cuts off responses that don't complete in time`() {
    let bench = Bench().serve { _ in PassthroughSubject<ServerResponse, Never>() }
    let client = bench.send(Self.get)
    var isOver = false
    let ending = bench.server.shutdown(within: .seconds(5)).sink { _ in
      isOver = true
    } receiveValue: { _ in
    }
    bench.pass(.seconds(4))
    #expect(!client.isClosed && !isOver)
    bench.pass(.seconds(1))
    #expect(client.isClosed && isOver)
    ending.cancel()
    bench.end()
  }

  @Test func `the shortest deadline of several shutdowns counts`() {
    let bench = Bench().serve { _ in PassthroughSubject<ServerResponse, Never>() }
    let client = bench.send(Self.get)
    bench.server.shutdown(within: .seconds(60))
    bench.pass(.seconds(1))
    bench.server.shutdown(within: .seconds(2))
    bench.server.shutdown(within: .seconds(100))
    bench.pass(.seconds(1))
    #expect(!client.isClosed)
    bench.pass(.seconds(1))
    #expect(client.isClosed)
    bench.end()
    #expect(bench.time.pending.isEmpty)
  }

  @Test func `an HTTP/1.0 client can tell an incomplete body from a complete one`() {
    struct Broken: Error {}
    let endless = PassthroughSubject<Chunk, Never>()
    let bench = Bench().serve { request in
      switch request.path {
      case "/whole": .init(body: [Chunk("abc")].publisher)
      case "/endless": .init(body: endless)
      default: .init(body: Just(Chunk("abc")).setFailureType(to: Broken.self).append(Fail(error: Broken())))
      }
    }
    func ask(_ path: String) -> MemoryChannel {
      let client = bench.send("GET \(path) HTTP/1.0\r\n\r\n")
      endless.send(Chunk("abc"))
      bench.settle()
      #expect(client.receive().hasSuffix("\r\n\r\nabc"))
      return client
    }
    let whole = ask("/whole")
    #expect(whole.hasEndedWriting && !whole.isBrokenOff)
    let failing = ask("/failing")
    #expect(failing.isClosed && failing.isBrokenOff && !failing.hasEndedWriting)
    let unfinished = ask("/endless")
    bench.end()
    #expect(unfinished.isClosed && unfinished.isBrokenOff && !whole.isBrokenOff)
  }

  @Test func `a body of the wrong length or that fails is visibly incomplete for the client`() {
    struct Broken: Error {}
    let bench = Bench().serve { request in
      switch request.path {
      case "/short": .init(body: [Chunk("abc")].publisher, length: 5)
      case "/long": .init(body: [Chunk("abc"), Chunk("def")].publisher, length: 5)
      default: .init(body: Just(Chunk("abc")).setFailureType(to: Broken.self).append(Fail(error: Broken())))
      }
    }
    func ask(_ path: String) -> (String, Bool) {
      let client = bench.send("GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n")
      return (client.receive().components(after: "\r\n\r\n"), client.hasEndedWriting)
    }
    #expect(ask("/short") == ("abc", true))
    #expect(ask("/long") == ("abcde", false))
    #expect(ask("/failing") == ("3\r\nabc\r\n", true))
    bench.end()
  }

  @Test(arguments: [[599], [600], [601], [600, 1]])
  func `a compressed body is cut off if it is shorter than announced, and ends at the announced length`(
    counts: [Int]
  ) throws {
    let count = counts.reduce(0, +)
    let chunks = counts.map { Chunk(repeatElement(97, count: $0)) }
    let bench = Bench().serve { _ in
      .init(headers: ["Content-Type": "text/csv"], body: chunks.publisher, length: 600)
    }
    let client = bench.send("GET / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n")
    let bytes = client.receiveBytes()
    let hasEnd = bytes.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8)
    #expect(hasEnd == (count >= 600) && client.hasEndedWriting == (count < 600))
    #expect(try gunzip(unchunked(bytes), isPart: count < 600) == Array(repeating: 97, count: min(count, 600)))
    bench.end()
  }
}

extension String {
  /// The text after the first `separator`.
  func components(after separator: String) -> String {
    guard let range = self.firstRange(of: separator) else { return "" }
    return String(self[range.upperBound...])
  }
}
