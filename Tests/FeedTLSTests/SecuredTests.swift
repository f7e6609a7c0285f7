import COpenSSL
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedTLS

/// TLS over connections in virtual time.
@Suite(.settled, .timeLimit(.minutes(5))) struct SecuredTests {
  private let papers: Papers

  init() throws { papers = try Papers.all.get() }

  private func send(_ chunks: [Chunk], to connection: Connection?, atEnd ending: WriteEnding = .leavesOpen) throws
    -> Outcome<Never, WriteError>
  {
    Outcome(chunks.publisher.write(to: try #require(connection), atEnd: ending))
  }

  @Test func `after the handshake, each side reads what the other writes`() throws {
    try withPair { pair in
      try pair.connect(
        papers.client(protocols: ["http/1.1", "echo"]), papers.server(protocols: ["echo"]))
      let reading = Outcome(try #require(pair.server).bytes)
      let answers = Outcome(try #require(pair.client).bytes)
      let writing = try send(["hello ", "", "world"], to: pair.client, atEnd: .endsWriting)
      pair.time.run()
      #expect(reading.text == "hello world" && reading.isFinished && writing.isFinished)
      // One direction has ended, and the other one hasn't.
      let answer = try send(["bye"], to: pair.server, atEnd: .closes)
      pair.time.run()
      #expect(answers.text == "bye" && answers.isFinished && answer.isFinished)
    }
  }

  @Test func `both sides know the negotiated version, cipher, protocol and names`() throws {
    try withPair { pair in
      try pair.connect(papers.client(protocols: ["b", "a"]), papers.server(protocols: ["a", "b"]))
      let (client, server) = (try #require(pair.client?.tls), try #require(pair.server?.tls))
      #expect(client.version == "TLSv1.3" && client.cipher == server.cipher && client.cipher.hasPrefix("TLS_"))
      #expect(client.applicationProtocol == "a" && server.applicationProtocol == "a")
      #expect(server.serverName == "localhost" && server.peerSubject == nil && server.peerFingerprint == nil)
      #expect(client.peerSubject == "CN=localhost" && client.peerNames == ["localhost", "127.0.0.1"])
      #expect(client.peerFingerprint?.count == 32)
      #expect(pair.client?.tlsFailure == nil && pair.below.client?.tls == nil)
    }
  }

  @Test func `a certificate's name with a line feed doesn't count as two names`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server("lines"))
      #expect(try #require(pair.client?.tls).peerNames == ["localhost"])
    }
  }

  @Test func `a secure connection works however its bytes are split`() throws {
    for segment in [1, 7, 4096] {
      try withPair { pair in
        pair.time.network.link.segment = segment
        pair.time.network.link.latency = .milliseconds(10)
        try pair.connect(papers.client(), papers.server("deep"))
        let reading = Outcome(try #require(pair.server).bytes)
        // Reads the server's session tickets: closing the connection while they are unread would reset it.
        let tickets = Outcome(try #require(pair.client).bytes)
        let sent = (0..<40).map { Chunk(repeatElement(UInt8($0), count: $0 * 60)) }
        let writing = try send(sent, to: pair.client, atEnd: .closes)
        pair.time.run()
        #expect(Chunk(joining: reading.values) == Chunk(joining: sent) && reading.isFinished && writing.isFinished)
        #expect(tickets.values.isEmpty)
      }
    }
  }

  @Test func `megabytes can be sent in both directions at the same time`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let (client, server) = (try #require(pair.client), try #require(pair.server))
      let block = Chunk((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
      let echo = Outcome(server.bytes.write(to: server, atEnd: .closes))
      var count = 0
      let reading = client.bytes.sink { _ in
      } receiveValue: {
        count += $0.count
      }
      let writing = try send(Array(repeating: block, count: 30), to: client, atEnd: .endsWriting)
      pair.time.run()
      #expect(count == 3_000_000 && writing.isFinished && echo.isFinished)
      reading.cancel()
    }
  }

  @Test func `a writer waits for a reader without demand`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      var written = 0
      let block = Chunk(repeatElement(7, count: 16 * 1024))
      let writing = repeatElement(block, count: 1000).publisher.handleEvents(receiveOutput: { written += $0.count })
        .write(to: try #require(pair.client)).sink { _ in
        } receiveValue: { _ in
        }
      pair.time.run()
      // The link's buffer, the bytes that are encrypted at a time, and the bytes that `write` holds.
      #expect(written > 64 * 1024 && written < 600 * 1024)
      var read = 0
      let reading = try #require(pair.server).bytes.sink { _ in
      } receiveValue: {
        read += $0.count
      }
      pair.time.run()
      #expect(read == 16_384_000 && written == read)
      for subscription in [writing, reading] { subscription.cancel() }
    }
  }

  @Test func `a reader that stops and continues loses nothing`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let writing = try send([Chunk(repeatElement(1, count: 200_000))], to: pair.client, atEnd: .endsWriting)
      let server = try #require(pair.server)
      var total = 0
      for _ in 0..<1000 {
        let one = Outcome(server.bytes.prefix(1))
        pair.time.run()
        guard !one.values.isEmpty else { break }
        total += Chunk(joining: one.values).count
      }
      #expect(total == 200_000 && writing.isFinished)
    }
  }

  @Test func `a reader that pauses at the last data gets the end that arrived with it`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let server = try #require(pair.server)
      let channel = try #require(pair.client?.channel as? TLSChannel)
      // The data and `close_notify` arrive as one chunk, and the connection stays open.
      let error = Chunk("x").withUnsafeBytes { channel.engine.write($0) }
      channel.engine.sayGoodbye()
      channel.inner.write([Chunk(joining: channel.engine.takeOutput())]) { _ in }
      let first = Outcome(server.bytes.prefix(1))
      pair.time.run()
      #expect(error == nil && first.text == "x")
      for _ in 0..<2 {
        let rest = Outcome(server.bytes)
        pair.time.run()
        #expect(rest.values.isEmpty && rest.isFinished)
      }
    }
  }

  @Test func `a cancelled publisher's running write completes before the next one's`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let (client, server) = (try #require(pair.client), try #require(pair.server))
      let sent = Chunk((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 1_000) })
      try send([sent], to: client).cancel()
      let second = try send(["end"], to: client, atEnd: .endsWriting)
      let reading = Outcome(server.bytes)
      pair.time.run()
      #expect(Chunk(joining: reading.values) == Chunk(joining: [sent, "end"]))
      #expect(reading.isFinished && second.isFinished)
    }
  }

  @Test func `writing ends for the next publisher while a cancelled one's end still waits`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      try send([], to: pair.client, atEnd: .endsWriting).cancel()
      let second = try send([], to: pair.client, atEnd: .endsWriting)
      let reading = Outcome(try #require(pair.server).bytes)
      pair.time.run()
      #expect(reading.isFinished && second.isFinished)
    }
  }

  /// Calls `body` when the client has received a part of a session ticket that needs two records, because it contains
  /// the client's long certificate.
  private func withPartOfTicket(_ body: (Pair, _ clientBytes: Outcome<Chunk, SystemError>) throws -> Void) throws {
    try withPair { pair in
      pair.time.network.link.buffer = 20_000
      pair.time.network.link.latency = .milliseconds(10)
      let server = try papers.server()
      // A server that requires certificates gives no tickets.
      SSL_CTX_set_verify(server.context.pointer, SSL_VERIFY_PEER, nil)
      try server.context.trust(papers.roots)
      try pair.connect(TLSClient(trusting: papers.roots, identity: papers.identity("long")), server)
      let reading = Outcome(try #require(pair.client).bytes)
      // The bytes beyond the link's buffer are sent now, and arrive later.
      pair.time.advance(by: .milliseconds(1))
      let channel = try #require(pair.client?.channel as? TLSChannel)
      try #require(SSL_is_init_finished(channel.engine.ssl) == 0)
      try body(pair, reading)
    }
  }

  @Test(arguments: [true, false], ["hello", ""])
  func `a write, or its end, waits for the rest of a long session ticket, even without a reader`(
    isRead: Bool, text: String
  ) throws {
    try withPartOfTicket { pair, reading in
      if !isRead { reading.cancel() }
      let writing = try send([Chunk(text)], to: pair.client, atEnd: .endsWriting)
      let received = Outcome(try #require(pair.server).bytes)
      pair.time.run()
      #expect(received.text == text && received.isFinished && writing.isFinished)
      #expect(pair.client?.tlsFailure == nil && reading.completion == nil)
      reading.cancel()
    }
  }

  @Test(arguments: [true, false], ["hello", ""])
  func `a write, or its end, that waits for the rest of a session ticket fails when the connection does`(
    isLost: Bool, text: String
  ) throws {
    try withPartOfTicket { pair, reading in
      let writing = try send([Chunk(text)], to: pair.client, atEnd: .endsWriting)
      if isLost {
        reading.cancel()
        pair.time.network.loseConnections()
      } else {
        // A byte in the middle of the ticket that doesn't belong there.
        try #require(pair.client?.channel as? TLSChannel).engine.feed("x")
      }
      pair.time.run()
      #expect((writing.error?.cause as? SystemError)?.name == (isLost ? "ECONNRESET" : "EPROTO"))
      reading.cancel()
    }
  }

  /// Lets the client receive the rest of its tickets, followed by a byte of data, as one chunk.
  private func receiveRestOfTickets(_ pair: Pair) throws {
    let channel = try #require(pair.client?.channel as? TLSChannel)
    var rest: [Chunk] = []
    channel.inner.startReading { if case .chunk(let chunk) = $0 { rest.append(chunk) } }
    pair.time.run()
    for chunk in rest { channel.engine.feed(chunk) }
    channel.isReadingBelow = false
    channel.readBelow()
    let writing = try send(["x"], to: pair.server)
    pair.time.run()
    #expect(writing.isFinished && SSL_is_init_finished(channel.engine.ssl) == 1)
  }

  @Test func `a connection reads no more after a write has waited, if its reader is cancelled`() throws {
    try withPartOfTicket { pair, old in
      old.cancel()
      let first = try send(["hello"], to: pair.client)
      var second: Outcome<Never, WriteError>?
      var reading: AnyCancellable?
      reading = try #require(pair.client).bytes.sink { _ in
      } receiveValue: { _ in
        reading?.cancel()
        first.cancel()
        second = try? send([" world"], to: pair.client)
      }
      try receiveRestOfTickets(pair)
      #expect(second?.isFinished == true)
      let writing = try send([Chunk(repeatElement(1, count: 1_000_000))], to: pair.server)
      pair.time.run()
      #expect(writing.completion == nil)
      writing.cancel()
    }
  }

  @Test func `closing while a write waits for the rest of a session ticket isn't a proper end`() throws {
    try withPartOfTicket { pair, old in
      old.cancel()
      let writing = try send(["hello"], to: pair.client)
      let received = Outcome(try #require(pair.server).bytes)
      let reading = try #require(pair.client).bytes.sink { _ in
      } receiveValue: { _ in
        pair.client?.close()
      }
      try receiveRestOfTickets(pair)
      #expect(received.values.isEmpty && received.error?.name == "ECONNABORTED" && writing.error != nil)
      reading.cancel()
    }
  }

  @Test func `a connection that is cut off without close_notify fails`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let reading = Outcome(try #require(pair.client).bytes)
      let writing = try send(["half"], to: pair.server)
      pair.time.run()
      pair.below.server?.close()
      pair.time.run()
      #expect(reading.text == "half" && writing.isFinished)
      #expect(reading.error?.name == "ECONNABORTED" && pair.client?.tlsFailure == .truncated)
      #expect("\(try #require(reading.error))".contains("without a TLS close_notify alert"))
    }
  }

  @Test func `a lost connection fails with the system's error`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let reading = Outcome(try #require(pair.client).bytes)
      pair.time.network.loseConnections()
      pair.time.run()
      #expect(reading.error?.name == "ECONNRESET" && pair.client?.tlsFailure == nil)
      let writing = try send(["lost"], to: pair.client)
      pair.time.run()
      #expect((writing.error?.cause as? SystemError)?.name == "ECONNRESET")
    }
  }

  @Test func `a server that responds with something else is reported as not speaking TLS`() throws {
    try withPair { pair in
      var answering: Outcome<Never, WriteError>?
      pair.time.schedule(after: pair.time.now.advanced(by: .seconds(1))) {
        answering = try? send(["HTTP/1.1 400 Bad Request\r\n\r\n"], to: pair.below.server)
      }
      try pair.connect(papers.client(), nil)
      #expect(pair.clientError == .notTLS && answering?.isFinished == true)
    }
  }

  /// In the other cases, the changed record arrives together with an unchanged one. The server responds to that one
  /// immediately, or pauses for some milliseconds before it reads more.
  @Test(arguments: [(10_000, 0, 0), (20_000, 16_384, 0), (20_000, 16_384, 1)])
  func `a byte changed in transit fails the connection`(sent: Int, received: Int, pause: Int) throws {
    try withVirtualTime { time in
      time.network.link.segment = 64 << 10
      // A server, and an attacker on the way to it who changes the last byte of what is sent.
      let front = SocketAddress.internet("10.0.0.2", port: 443)
      let listener = try Listener(at: Pair.place, on: time)
      let server = try papers.server()
      var error: SystemError?
      var (secured, count): (Connection?, Int) = (nil, 0)
      var answer: Outcome<Never, WriteError>?
      let serving = listener.connections.secured(by: server, on: time)
        .flatMap { connection in
          secured = connection
          return connection.bytes
            .flatMap(maxPublishers: pause > 0 ? .max(1) : .unlimited) { chunk -> AnyPublisher<Chunk, SystemError> in
              let one = Just(chunk).setFailureType(to: SystemError.self)
              guard pause > 0 else { return one.eraseToAnyPublisher() }
              return one.delay(for: .milliseconds(pause), scheduler: time).eraseToAnyPublisher()
            }
            .catch {
              error = $0
              return Empty<Chunk, Never>()
            }
        }
        .sink { chunk in
          count += chunk.count
          if pause == 0, let secured { answer = try? send([chunk], to: secured) }
        }
      let middle = try Listener(at: front, on: time)
      let relaying = middle.connections.flatMap { outside in
        Connection.connect(to: Pair.place, on: time).eraseFailureType().flatMap { inside in
          var held = Chunk()
          return outside.bytes
            .compactMap { chunk -> Chunk? in
              guard chunk.count >= 9_000 || !held.isEmpty else { return chunk }
              held = Chunk(joining: [held, chunk])
              return held.count < sent ? nil : Chunk(joining: [held.dropLast(), [held.last! ^ 1]])
            }
            .write(to: inside).merge(with: inside.bytes.write(to: outside)).eraseFailureType()
        }
        .catch { _ in Empty<Never, Never>() }
      }
      .sink { _ in }
      let client = try papers.client()
      let connecting = Outcome(
        Connection.connect(to: front, on: time).mapError { TLSError.system($0) }
          .flatMap { $0.secured(by: client, host: "localhost", on: time) })
      time.advance(by: .seconds(1))
      let connection = try #require(connecting.values.first)
      let reading = Outcome(connection.bytes)
      let writing = try send([Chunk(repeatElement(1, count: sent))], to: connection)
      time.advance(by: .seconds(1))
      #expect(count == received)
      #expect(secured?.tlsFailure.map { "\($0)".contains("bad record mac") } == true)
      #expect(writing.isFinished && error?.name == "EPROTO")
      if let failure = answer?.error { #expect("\(failure.cause)".contains("bad record mac")) }
      #expect((answer != nil) == (received > 0 && pause == 0))
      #expect(connection.tlsFailure == .refused(reason: "bad record mac") && reading.error?.name == "EPROTO")
      answer?.cancel()
      for subscription in [serving, relaying] { subscription.cancel() }
      for listener in [listener, middle] { listener.close() }
    }
  }

  @Test func `a handshake without progress times out`() throws {
    try withPair { pair in
      let start = pair.time.now
      try pair.connect(papers.client(), nil)
      #expect(pair.clientError == .timedOut(.seconds(10)))
      #expect(start.distance(to: pair.time.now) == .seconds(10))
    }
  }

  @Test func `a connection that ends during its handshake is reported as truncated`() throws {
    try withPair { pair in
      var reading: AnyCancellable?
      pair.time.schedule(after: pair.time.now.advanced(by: .milliseconds(500))) {
        reading = pair.below.server?.bytes.sink { _ in
        } receiveValue: { _ in
        }
      }
      pair.time.schedule(after: pair.time.now.advanced(by: .seconds(1))) { pair.below.server?.close() }
      try pair.connect(papers.client(), nil)
      #expect(pair.clientError == .truncated)
      reading?.cancel()
    }
  }

  @Test func `cancelling a handshake closes the connection`() throws {
    try withVirtualTime { time in
      let listener = try Listener(at: Pair.place, on: time)
      var accepted: Connection?
      let accepting = listener.connections.sink { accepted = $0 }
      var raw: Connection?
      let connecting = Connection.connect(to: Pair.place, on: time).sink { _ in
      } receiveValue: {
        raw = $0
      }
      time.run()
      let securing = Outcome(
        try #require(raw).secured(by: try papers.client(), host: "localhost", on: time))
      time.advance(by: .seconds(1))
      securing.cancel()
      #expect(raw?.isClosed == true)
      time.run()
      #expect(securing.completion == nil)
      for subscription in [accepting, connecting] { subscription.cancel() }
      accepted?.close()
      listener.close()
    }
  }

  @Test func `the connection below a secure one can't be used`() throws {
    try withPair { pair in
      try pair.connect(papers.client(), papers.server())
      let below = try #require(pair.below.client)
      #expect(Outcome(below.bytes).error?.name == "EBUSY")
      #expect((try send(["x"], to: below).error?.cause as? SystemError)?.name == "EBUSY")
      let again = Outcome(below.secured(by: try papers.client(), host: "localhost", on: pair.time))
      #expect(again.error == .system(SystemError("take over", "10.0.0.1:443", code: 16)))
    }
  }
}
