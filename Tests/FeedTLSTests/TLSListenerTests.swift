import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import FeedTLS
import Synchronization
import TestSupport
import Testing

/// Listeners with secure connections, and servers that use them.
@Suite(.settled, .timeLimit(.minutes(5))) struct TLSListenerTests {
  private let papers: Papers

  init() throws { papers = try Papers.all.get() }

  /// Connects to ``Pair/place``, securely.
  private func connect(_ client: TLSClient, on time: VirtualTimeScheduler) -> Outcome<Connection, TLSError> {
    Outcome(
      Connection.connect(to: Pair.place, on: time).mapError { TLSError.system($0) }
        .flatMap { $0.secured(by: client, host: "localhost", on: time) })
  }

  /// The connections of a listener, as if these hosts had connected, in this order.
  private func connections(of listener: Listener, from hosts: [String]) -> AnyPublisher<Connection, Never> {
    var hosts = hosts
    return listener.connections
      .map { Connection($0.channel, to: .internet(hosts.removeFirst(), port: 4711), keeping: $0) }
      .eraseToAnyPublisher()
  }

  @Test func `a failing or stuck handshake blocks no other connection`() throws {
    try withVirtualTime { time in
      var reports: [TLSError] = []
      let listener = try Listener(at: Pair.place, on: time)
      let serving = listener.connections
        .secured(by: try papers.server(), handshakes: 2, on: time) { error, _ in reports.append(error) }
        .flatMap { $0.bytes.write(to: $0, atEnd: .closes).catch { _ in Empty<Never, Never>() } }
        .sink { _ in }
      // One client sends nothing, and another one doesn't speak TLS.
      let silent = Outcome(Connection.connect(to: Pair.place, on: time))
      let wrong = Outcome(Connection.connect(to: Pair.place, on: time))
      time.advance(by: .seconds(1))
      let writing = Outcome(
        (["GET / HTTP/1.1\r\n\r\n"] as [Chunk]).publisher.write(to: try #require(wrong.values.first)))
      let client = try papers.client()
      let right = connect(client, on: time)
      time.advance(by: .seconds(1))
      let connection = try #require(right.values.first)
      let answer = Outcome(connection.bytes)
      let asking = Outcome((["hi"] as [Chunk]).publisher.write(to: connection, atEnd: .endsWriting))
      time.run()
      #expect(answer.text == "hi" && answer.isFinished)
      #expect(asking.isFinished && writing.isFinished, "\(asking.error as Any) \(answer.error as Any)")
      #expect(reports == [.notTLS, .timedOut(.seconds(10))])
      silent.values = []
      serving.cancel()
      listener.close()
    }
  }

  @Test func `a client that stalls handshakes can't occupy a listener`() throws {
    try withVirtualTime { time in
      var reports: [TLSError: [String]] = [:]
      let listener = try Listener(at: Pair.place, on: time)
      let hosts = Array(repeating: "192.0.2.1", count: 20) + ["192.0.2.2", "192.0.2.3"]
      let serving = connections(of: listener, from: hosts)
        .secured(by: try papers.server(), handshakes: 8, on: time) { reports[$0, default: []].append("\($1)") }
        .sink { _ in }
      let silent = (0..<21).map { _ in Outcome(Connection.connect(to: Pair.place, on: time)) }
      let quick = connect(try papers.client(), on: time)
      time.advance(by: .seconds(1))
      #expect(quick.values.count == 1)
      #expect(reports == [TLSError.tooManyHandshakes: Array(repeating: "192.0.2.1:4711", count: 15)])
      // The slow handshake of another client may take all of its time.
      time.advance(by: .seconds(8))
      #expect(reports.count == 1)
      time.advance(by: .seconds(2))
      #expect(
        reports[.timedOut(.seconds(10))]?.sorted()
          == Array(repeating: "192.0.2.1:4711", count: 5) + ["192.0.2.2:4711"])
      quick.values = []
      for one in silent { one.values = [] }
      serving.cancel()
      listener.close()
    }
  }

  @Test func `a burst of quick handshakes from one address isn't refused`() throws {
    try withVirtualTime { time in
      time.network.link.latency = .milliseconds(10)
      var (reports, count): ([TLSError], Int) = ([], 0)
      let listener = try Listener(at: Pair.place, on: time)
      let serving = connections(of: listener, from: Array(repeating: "192.0.2.1", count: 30))
        .secured(by: try papers.server(), handshakes: 8, on: time) { error, _ in reports.append(error) }
        .sink { _ in count += 1 }
      let client = try papers.client()
      let quick = (0..<30).map { _ in connect(client, on: time) }
      time.advance(by: .seconds(2))
      #expect(count == 30 && reports == [])
      for one in quick { one.values = [] }
      serving.cancel()
      listener.close()
    }
  }

  @Test func `while a listener has room, one client's handshakes may take all of their time`() throws {
    try withVirtualTime { time in
      var reports: [TLSError] = []
      let listener = try Listener(at: Pair.place, on: time)
      let serving = connections(of: listener, from: Array(repeating: "192.0.2.1", count: 9))
        .secured(by: try papers.server(), handshakes: 8, on: time) { error, _ in reports.append(error) }
        .sink { _ in }
      let silent = (0..<6).map { _ in Outcome(Connection.connect(to: Pair.place, on: time)) }
      let client = try papers.client()
      // Handshakes that are over don't count.
      for _ in 0..<3 {
        let quick = connect(client, on: time)
        time.advance(by: .seconds(1))
        #expect(quick.values.count == 1)
        quick.values = []
      }
      time.advance(by: .seconds(6))
      #expect(reports == [])
      time.advance(by: .seconds(2))
      #expect(reports == Array(repeating: TLSError.timedOut(.seconds(10)), count: 6))
      for one in silent { one.values = [] }
      serving.cancel()
      listener.close()
    }
  }

  @Test func `handshakes of clients on this machine may take all of their time`() throws {
    try withVirtualTime { time in
      var reports: [TLSError] = []
      let listener = try Listener(at: Pair.place, on: time)
      let serving = listener.connections
        .secured(by: try papers.server(), handshakes: 8, on: time) { error, _ in reports.append(error) }
        .sink { _ in }
      let silent = (0..<8).map { _ in Outcome(Connection.connect(to: Pair.place, on: time)) }
      time.advance(by: .seconds(5))
      let waiting = connect(try papers.client(), on: time)
      time.advance(by: .seconds(4))
      #expect(waiting.values.isEmpty && reports == [])
      time.advance(by: .seconds(2))
      #expect(waiting.values.count == 1 && reports == Array(repeating: TLSError.timedOut(.seconds(10)), count: 8))
      waiting.values = []
      for one in silent { one.values = [] }
      serving.cancel()
      listener.close()
    }
  }

  @Test(arguments: [false, true]) func `a slow client over TLS gets the whole last response`(halfCloses: Bool) throws {
    try withVirtualTime { time in
      time.network.link.buffer = 8 * 1024
      // The response takes longer than `linger`, and shorter than `writeGrace`.
      time.network.link.bytesPerSecond = 4 * 1024
      let tls = try papers.server()
      let server = try HTTPServer(at: Pair.place, on: time) { $0.secured(by: tls, on: time) }
      let body = String(repeating: "x", count: 60 * 1024)
      let serving = server.serve { _ in .init(body: Chunk(body)) }
      let connecting = connect(try papers.client(), on: time)
      time.advance(by: .seconds(5))
      let connection = try #require(connecting.values.first)
      let answer = Outcome(connection.bytes)
      let asking = Outcome(
        (["GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"] as [Chunk]).publisher
          .write(to: connection, atEnd: halfCloses ? .endsWriting : .leavesOpen))
      time.advance(by: .seconds(40))
      #expect(asking.isFinished && answer.isFinished && answer.text.hasSuffix(body))
      #expect(server.waitingBytes == 0 && server.connectionCount == 0)
      serving.cancel()
      server.close()
    }
  }

  @Test func `over TLS, a body that ends too early for an HTTP/1.0 client breaks the connection off`() throws {
    struct Broken: Error {}
    try withVirtualTime { time in
      let tls = try papers.server()
      let server = try HTTPServer(at: Pair.place, on: time) { $0.secured(by: tls, on: time) }
      server.onError = { _ in }
      let serving = server.serve { _ in
        .init(body: Just(Chunk("half")).setFailureType(to: Broken.self).append(Fail(error: Broken())))
      }
      let client = try papers.client()
      let connecting = connect(client, on: time)
      time.advance(by: .seconds(1))
      let connection = try #require(connecting.values.first)
      let answer = Outcome(connection.bytes)
      let asking = Outcome((["GET / HTTP/1.0\r\n\r\n"] as [Chunk]).publisher.write(to: connection))
      time.advance(by: .seconds(5))
      #expect(asking.isFinished && answer.error != nil)
      serving.cancel()
      server.close()
    }
  }

  @Test func `without a handler, a failed handshake is reported to StreamDiagnostics`() throws {
    let heard = Mutex<[String]>([])
    StreamDiagnostics.onCaughtError { error in
      if error.error is TLSError { heard.withLock { $0.append(error.source) } }
    }
    defer { StreamDiagnostics.onCaughtError(nil) }
    try withVirtualTime { time in
      let listener = try Listener(at: Pair.place, on: time)
      let serving = listener.connections.secured(by: try papers.server(), on: time).sink { _ in }
      let wrong = Outcome(Connection.connect(to: Pair.place, on: time))
      time.advance(by: .seconds(1))
      let peer = try #require(wrong.values.first)
      let writing = Outcome((["GET / HTTP/1.1\r\n\r\n"] as [Chunk]).publisher.write(to: peer))
      time.run()
      #expect(writing.isFinished)
      #expect(heard.withLock { $0.count { $0.hasPrefix("Connection.secured: a handshake with ") } } == 1)
      wrong.values = []
      serving.cancel()
      listener.close()
    }
  }

  @Test func `the HTTP server works over secure connections as over others`() throws {
    try withVirtualTime { time in
      let tls = try papers.server()
      let server = try HTTPServer(at: Pair.place, on: time) { $0.secured(by: tls, on: time) }
      #expect(server.address == Pair.place)
      let body = String(repeating: "x", count: 300_000)
      let serving = server.serve { request in
        request.body.whole().map { .text(request.path == "/long" ? body : "\(request.path) \($0.text)") }
      }
      let client = try papers.client()
      let connecting = connect(client, on: time)
      time.advance(by: .seconds(1))
      let connection = try #require(connecting.values.first)
      let answer = Outcome(connection.bytes)
      let requests: [Chunk] = [
        "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi",
        "GET /long HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
      ]
      let asking = Outcome(requests.publisher.write(to: connection))
      time.advance(by: .seconds(5))
      #expect(asking.isFinished && answer.isFinished)
      #expect(answer.text.contains("/a hi") && answer.text.hasSuffix(body))
      serving.cancel()
      server.close()
    }
  }
}
