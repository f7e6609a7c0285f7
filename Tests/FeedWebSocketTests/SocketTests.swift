import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedWebSocket

/// Demand, deadlines and completion of one socket, in virtual time.
@Suite(.settled) struct SocketTests {
  /// Requests messages only when the test tells it to.
  private final class Slow: Subscriber {
    typealias Input = WebSocketMessage
    typealias Failure = WebSocketError
    var subscription: (any Subscription)?
    var messages: [WebSocketMessage] = []
    var completion: Subscribers.Completion<WebSocketError>?

    func receive(subscription: any Subscription) { self.subscription = subscription }
    func receive(_ input: WebSocketMessage) -> Subscribers.Demand {
      messages.append(input)
      return .none
    }
    func receive(completion: Subscribers.Completion<WebSocketError>) { self.completion = completion }
  }

  @Test(arguments: [true, false])
  func `without demand a socket reads nothing, and its peer waits`(isServer: Bool) throws {
    try withVirtualTime { time in
      let slow = Slow()
      let talk = try Talk(time, isServer: isServer) { socket in
        socket.messages.subscribe(slow)
        return Empty(completeImmediately: false).eraseToAnyPublisher()
      }
      // A ping before the first message gets a pong; a ping after it doesn't.
      talk.send(talk.frame(0x89, "1") + talk.frame(0x81, "a") + talk.frame(0x89, "2") + talk.frame(0x81, "b"))
      #expect(talk.words() == ["pong 1"])
      #expect(slow.messages == [])
      var written = false
      let many = Array(repeating: talk.frame(0x82, [UInt8](repeating: 0, count: 1_000)), count: 300).flatMap { $0 }
      talk.connection?.channel.write([Chunk(many)]) { _ in written = true }
      time.advance(by: .seconds(1))
      // The network's buffer holds 64 KiB.
      #expect(!written)
      slow.subscription?.request(.max(1))
      time.advance(by: .seconds(1))
      #expect(slow.messages == ["a"] && !written)
      #expect(talk.words() == ["pong 1", "pong 2"])
      slow.subscription?.request(.unlimited)
      time.advance(by: .seconds(1))
      #expect(slow.messages.count == 302 && written)
      slow.subscription?.cancel()
      talk.end()
    }
  }

  @Test func `a publisher of messages is read only while the socket has room`() throws {
    try withVirtualTime { time in
      var made = 0
      var limits = WebSocketLimits()
      limits.writeGrace = .seconds(100)
      let talk = try Talk(time, isServer: true, limits: limits) { socket in
        (0..<10_000).publisher.eraseToAnyPublisher().map { _ -> WebSocketMessage in
          made += 1
          return .binary(Chunk([UInt8](repeating: 1, count: 1_000)))
        }
        .write(to: socket, atEnd: .closes()).delaySubscription(for: .seconds(1), scheduler: time).eraseToAnyPublisher()
      }
      talk.stopReading()
      #expect(made == 0)
      time.advance(by: .seconds(10))
      // The messages that the peer has read, those in the network, those that may wait, and those of one write.
      #expect((64..<300).contains(made), "\(made) \(talk.heard.count)")
      let before = made
      time.advance(by: .seconds(10))
      #expect(made == before)
      talk.readAgain()
      time.advance(by: .seconds(10))
      #expect(made == 10_000)
      #expect(talk.words().count == 10_001 && talk.words().last == "close 1000")
      talk.end()
    }
  }

  @Test func `short messages reach a peer that pauses reading, complete and in order`() throws {
    try withVirtualTime { time in
      let said = PassthroughSubject<WebSocketMessage, Never>()
      let talk = try Talk(time, isServer: true) { socket in
        said.buffer(size: 10_000, prefetch: .byRequest, whenFull: .dropOldest).write(to: socket).eraseToAnyPublisher()
      }
      let texts = (0..<5_000).map { "message \($0) of many, which fill what the network holds" }
      for (index, text) in texts.enumerated() {
        if index == 100 { talk.stopReading() }
        said.send(.text(text))
        // The network accepts some bytes before the peer reads again.
        if index == 4_000 {
          time.advance(by: .milliseconds(1))
          talk.readAgain()
          time.advance(by: .milliseconds(1))
        }
        if index % 500 == 499 { talk.send(talk.frame(0x89, "\(index)")) }
      }
      time.advance(by: .seconds(1))
      let words = talk.words()
      #expect(words.filter { $0.hasPrefix("text") } == texts.map { "text \($0)" })
      #expect(words.filter { $0.hasPrefix("pong") } == (1...10).map { "pong \(500 * $0 - 1)" })
      talk.end()
    }
  }

  @Test func `a peer that doesn't read is disconnected`() throws {
    try withVirtualTime { time in
      var limits = WebSocketLimits()
      limits.bytesPerSecond = 1 << 20
      let talk = try Talk(time, isServer: true, limits: limits) { socket in
        Just(.binary(Chunk([UInt8](repeating: 1, count: 1 << 20)))).write(to: socket)
          .delaySubscription(for: .seconds(1), scheduler: time).eraseToAnyPublisher()
      }
      let socket = try #require(talk.socket)
      talk.stopReading()
      time.advance(by: .seconds(25))
      #expect(socket.state == .open)
      time.advance(by: .seconds(10))
      #expect(socket.state == .closed)
      #expect(socket.completion == .failure(.notReading(after: .seconds(30))))
      talk.end()
    }
  }

  @Test(arguments: [true, false])
  func `a silent peer gets a ping, and is disconnected without a pong`(isServer: Bool) throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: isServer)
      let socket = try #require(talk.socket)
      time.advance(by: .seconds(29))
      #expect(talk.words() == [])
      time.advance(by: .seconds(2))
      #expect(talk.words() == ["ping"])
      talk.send(talk.frame(0x8A))
      time.advance(by: .seconds(29))
      #expect(talk.words() == ["ping"])
      time.advance(by: .seconds(2))
      #expect(talk.words() == ["ping", "ping"])
      time.advance(by: .seconds(18))
      #expect(socket.state == .open)
      time.advance(by: .seconds(2))
      #expect(socket.completion == .failure(.noPong(after: .seconds(20))))
      #expect(talk.isEnded)
      talk.end()
    }
  }

  @Test(arguments: [true, false])
  func `a lost peer is noticed while its message waits, and one that is there is not disconnected`(isLost: Bool) throws
  {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true) { _ in Empty(completeImmediately: false).eraseToAnyPublisher() }
      let socket = try #require(talk.socket)
      talk.send(talk.frame(0x81, "nobody reads this"))
      #expect(!socket.isReading)
      if isLost { time.network.loseConnections() }
      time.advance(by: .seconds(125))
      #expect((socket.state == .closed) == isLost)
      if !isLost { #expect(talk.words() == ["ping", "ping", "ping", "ping"]) }
      talk.end()
    }
  }

  @Test func `messages that wait for demand arrive even if the peer has closed long ago`() throws {
    try withVirtualTime { time in
      let slow = Slow()
      let talk = try Talk(time, isServer: true) { socket in
        socket.messages.subscribe(slow)
        return Empty(completeImmediately: false).eraseToAnyPublisher()
      }
      talk.send(talk.frame(0x81, "a") + talk.frame(0x81, "b") + talk.close(1000))
      talk.connection?.close()
      time.advance(by: .seconds(300))
      #expect(slow.messages == [] && slow.completion == nil)
      slow.subscription?.request(.unlimited)
      time.advance(by: .seconds(1))
      #expect(slow.messages == ["a", "b"] && slow.completion == .finished)
      talk.end()
    }
  }

  @Test func `messages that wait for a subscriber arrive even if the connection is lost`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true) { _ in Empty(completeImmediately: false).eraseToAnyPublisher() }
      let socket = try #require(talk.socket)
      talk.send(talk.frame(0x81, "a") + talk.frame(0x81, "b") + talk.close(1000))
      talk.connection?.close()
      time.advance(by: .seconds(100))
      #expect(socket.state == .closed)
      let slow = Slow()
      socket.messages.subscribe(slow)
      slow.subscription?.request(.max(1))
      #expect(slow.messages == ["a"] && slow.completion == nil)
      slow.subscription?.request(.unlimited)
      #expect(slow.messages == ["a", "b"] && slow.completion == .finished)
      talk.end()
    }
  }

  @Test func `messages that wait for demand arrive even if a write fails`() throws {
    try withVirtualTime { time in
      let slow = Slow()
      let replies = PassthroughSubject<WebSocketMessage, Never>()
      let talk = try Talk(time, isServer: true) { socket in
        socket.messages.subscribe(slow)
        return replies.buffer(size: 10, prefetch: .keepFull, whenFull: .dropNewest).write(to: socket)
          .eraseToAnyPublisher()
      }
      slow.subscription?.request(.max(1))
      talk.send(talk.frame(0x81, "a") + talk.frame(0x81, "b") + talk.close(1000))
      #expect(slow.messages == ["a"])
      talk.connection?.close()
      time.advance(by: .seconds(1))
      for _ in 0..<3 {
        replies.send("reply")
        time.advance(by: .seconds(1))
      }
      #expect(talk.socket?.state == .closed && slow.completion == nil)
      slow.subscription?.request(.unlimited)
      #expect(slow.messages == ["a", "b"] && slow.completion == .finished)
      talk.end()
    }
  }

  @Test(arguments: [true, false])
  func `messages that waited for pongs to be written arrive even if that fails`(hasDemand: Bool) throws {
    try withVirtualTime { time in
      // The pings and the message arrive at once.
      time.network.link.segment = 64 * 1024
      let slow = Slow()
      var limits = WebSocketLimits()
      limits.bytesPerSecond = 1 << 20
      let talk = try Talk(time, isServer: true, limits: limits) { socket in
        socket.messages.subscribe(slow)
        return Empty(completeImmediately: false).eraseToAnyPublisher()
      }
      let socket = try #require(talk.socket)
      if hasDemand { slow.subscription?.request(.unlimited) }
      talk.stopReading()
      let writing = Just(WebSocketMessage.binary(Chunk([UInt8](repeating: 7, count: 200_000)))).write(to: socket)
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      time.advance(by: .milliseconds(1))
      let pings = Array(repeating: talk.frame(0x89, [UInt8](repeating: 0, count: 125)), count: 200).flatMap { $0 }
      talk.send(pings + talk.frame(0x81, "a"))
      #expect(socket.isBlocked && slow.messages == [])
      time.advance(by: .seconds(35))
      #expect(socket.state == .closed)
      if !hasDemand {
        #expect(slow.messages == [] && slow.completion == nil)
        slow.subscription?.request(.unlimited)
      }
      #expect(slow.messages == ["a"] && slow.completion == .failure(.notReading(after: .seconds(30))))
      withExtendedLifetime(writing) {}
      talk.end()
    }
  }

  @Test func `close ends in a limited time if the peer doesn't read`() throws {
    try withVirtualTime { time in
      let slow = Slow()
      let talk = try Talk(time, isServer: true) { socket in
        socket.messages.subscribe(slow)
        slow.subscription?.request(.unlimited)
        return Empty(completeImmediately: false).eraseToAnyPublisher()
      }
      let socket = try #require(talk.socket)
      talk.stopReading()
      let writing = Just(WebSocketMessage.binary(Chunk([UInt8](repeating: 7, count: 200_000)))).write(to: socket)
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      time.advance(by: .seconds(60))
      socket.close()
      time.advance(by: .seconds(29))
      #expect(socket.state == .closing)
      time.advance(by: .seconds(5))
      #expect(socket.state == .closed && slow.completion == .finished)
      withExtendedLifetime(writing) {}
      talk.end()
    }
  }

  @Test func `a message that is being written is not cut off by close`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true) { _ in Empty(completeImmediately: false).eraseToAnyPublisher() }
      let socket = try #require(talk.socket)
      talk.stopReading()
      let writing = Just(WebSocketMessage.binary(Chunk([UInt8](repeating: 7, count: 3 << 20)))).write(to: socket)
        .sink(receiveCompletion: { _ in }, receiveValue: { _ in })
      socket.close()
      time.advance(by: .seconds(25))
      #expect(socket.state == .closing)
      talk.readAgain()
      time.advance(by: .seconds(5))
      #expect(talk.words().last == "close 1000")
      time.advance(by: .seconds(4))
      #expect(socket.state == .closing)
      time.advance(by: .seconds(7))
      #expect(socket.state == .closed)
      withExtendedLifetime(writing) {}
      talk.end()
    }
  }

  @Test func `a socket closed on delivery reads what came with the handshake`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: false, early: Raw.close(1000, isMasked: false)) { socket in
        socket.close()
        return Empty(completeImmediately: false).eraseToAnyPublisher()
      }
      let socket = try #require(talk.socket)
      #expect(socket.received?.code == .normal)
      talk.end()
    }
  }

  @Test func `after close, a limited number of bytes is discarded`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: false) { _ in Empty(completeImmediately: false).eraseToAnyPublisher() }
      let socket = try #require(talk.socket)
      socket.close()
      let frame = Chunk(talk.frame(0x82, [UInt8](repeating: 0, count: 1 << 20)))
      talk.connection?.channel.write(Array(repeating: frame, count: 15)) { _ in }
      time.advance(by: .seconds(1))
      #expect(socket.state == .closing)
      talk.connection?.channel.write([frame, frame]) { _ in }
      time.advance(by: .seconds(1))
      #expect(socket.state == .closed)
      talk.end()
    }
  }

  @Test func `the reason of a close frame is safe to print`() {
    let error = WebSocketError.closedByPeer(WebSocketClose(.internalError, "\u{1B}]0;x\u{7}\n\u{202E}"))
    #expect("\(error)" == "The peer closed the socket with 1011 (internal error): \\u{1B}]0;x\\u{7}\\u{A}\\u{202E}.")
  }

  @Test func `a failure of another socket closes this one with 1011`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true) { socket in
        Fail<WebSocketMessage, WebSocketError>(error: .connectionLost(nil)).write(to: socket).eraseToAnyPublisher()
      }
      time.advance(by: .seconds(1))
      #expect(talk.words() == ["close 1011"])
      talk.end()
    }
  }

  @Test func `a client's handshake passes interim responses`() throws {
    try withVirtualTime { time in
      let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
      let talk = try Talk(time, isServer: false, interim: interim)
      talk.send(talk.frame(0x81, "hello"))
      #expect(talk.words() == ["text hello"])
      talk.end()
    }
  }

  @Test(arguments: [true, false])
  func `close sends its reason, and waits for the peer's close frame for a limited time`(isServer: Bool) throws {
    for answers in [true, false] {
      try withVirtualTime { time in
        let slow = Slow()
        let talk = try Talk(time, isServer: isServer) { socket in
          socket.messages.subscribe(slow)
          slow.subscription?.request(.unlimited)
          return Empty(completeImmediately: false).eraseToAnyPublisher()
        }
        let socket = try #require(talk.socket)
        socket.close(.goingAway, reason: "bye")
        socket.close(.normal)
        time.advance(by: .milliseconds(1))
        #expect(talk.words() == ["close 1001"])
        // Messages in transit are discarded.
        talk.send(talk.frame(0x81, "late"))
        if answers { talk.send(talk.close(1001)) }
        #expect(slow.messages == [])
        #expect((slow.completion != nil) == answers)
        time.advance(by: .seconds(11))
        #expect(socket.state == .closed && talk.isEnded)
        #expect(slow.completion == .finished)
        talk.end()
      }
    }
  }

  @Test(arguments: [true, false])
  func `messages completes according to the peer's close code`(isServer: Bool) throws {
    for (code, completion) in [
      (1000, .finished), (1001, .finished), (nil, .finished),
      (1011, .failure(.closedByPeer(WebSocketClose(.internalError, "oh")))),
    ] as [(Int?, Subscribers.Completion<WebSocketError>)] {
      try withVirtualTime { time in
        let slow = Slow()
        let talk = try Talk(time, isServer: isServer) { socket in
          socket.messages.subscribe(slow)
          slow.subscription?.request(.unlimited)
          return Empty(completeImmediately: false).eraseToAnyPublisher()
        }
        talk.send(talk.frame(0x81, "a") + talk.close(code, code == 1011 ? Array("oh".utf8) : []))
        #expect(slow.messages == ["a"])
        #expect(slow.completion == completion)
        talk.end()
      }
    }
  }

  @Test(arguments: [true, false])
  func `a connection cut at any byte is an error`(isServer: Bool) throws {
    for cut in [1, 5, 9, 14] {
      try withVirtualTime { time in
        let slow = Slow()
        let talk = try Talk(time, isServer: isServer) { socket in
          socket.messages.subscribe(slow)
          slow.subscription?.request(.unlimited)
          return Empty(completeImmediately: false).eraseToAnyPublisher()
        }
        let bytes = talk.frame(0x81, "hello") + talk.frame(0x81, "world")
        talk.send(Array(bytes.prefix(cut)))
        time.network.loseConnections()
        time.advance(by: .seconds(1))
        guard case .failure(.connectionLost(let error?)) = slow.completion else {
          Issue.record("\(slow.completion as Any)")
          return
        }
        #expect(error.code == 104)
        talk.end()
      }
    }
  }

  @Test func `messages of several publishers are sent in turn`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true) { socket in
        func many(_ letter: String) -> Publishers.WriteMessages<Publishers.MapStrings> {
          Publishers.MapStrings(text: String(repeating: letter, count: 10_000), count: 20).write(to: socket)
        }
        return many("a").merge(with: many("b")).eraseToAnyPublisher()
      }
      time.advance(by: .seconds(1))
      #expect(talk.words().count == 40)
      talk.end()
    }
  }

  @Test func `a failing publisher closes the socket with 1011 after its messages`() throws {
    struct Broken: Error {}
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true) { socket in
        Just(WebSocketMessage.text("a")).setFailureType(to: (any Error).self)
          .append(Fail<WebSocketMessage, any Error>(error: Broken())).write(to: socket)
          .catch { _ in Empty<Never, any Error>() }.eraseToAnyPublisher()
      }
      time.advance(by: .seconds(1))
      #expect(talk.words() == ["text a", "close 1011"])
      talk.end()
    }
  }

  @Test func `a peer that sends pings without reading pongs has to wait`() throws {
    try withVirtualTime { time in
      let talk = try Talk(time, isServer: true)
      let socket = try #require(talk.socket)
      talk.stopReading()
      let pings = Array(repeating: talk.frame(0x89, [UInt8](repeating: 0, count: 125)), count: 8_000).flatMap { $0 }
      var written = false
      talk.connection?.channel.write([Chunk(pings)]) { _ in written = true }
      time.advance(by: .seconds(5))
      #expect(!written)
      #expect(socket.outBytes + socket.controlBytes < 400_000)
      talk.readAgain()
      time.advance(by: .seconds(5))
      #expect(written)
      #expect(talk.words().count == 8_000)
      talk.end()
    }
  }

  @Test func `pongs that wait for the end of a long frame stay within their limit`() throws {
    try withVirtualTime { time in
      time.network.link.bytesPerSecond = 2 << 20
      let talk = try Talk(time, isServer: true) { socket in
        Just(WebSocketMessage.binary(Chunk([UInt8](repeating: 1, count: 4 << 20)))).write(to: socket)
          .eraseToAnyPublisher()
      }
      let socket = try #require(talk.socket)
      let pings = Array(repeating: talk.frame(0x89, [UInt8](repeating: 0, count: 125)), count: 2_000).flatMap { $0 }
      talk.connection?.channel.write([Chunk(pings)]) { _ in }
      var most = 0
      for _ in 0..<200 {
        time.advance(by: .milliseconds(1))
        most = max(most, socket.controls.reduce(0) { $0 + $1.count })
      }
      #expect(most > 0 && most < WebSocket.mostControlBytes + 256)
      time.advance(by: .seconds(5))
      #expect(talk.words().count == 2_001)
      talk.end()
    }
  }

  @Test func `shutting down a server closes its sockets with 1001, and closing it drops them`() throws {
    try withVirtualTime { time in
      let server = try HTTPServer(at: .internet("10.0.0.1", port: 80), on: time)
      var opened: [WebSocket] = []
      let serving = server.serve { request in
        request.upgradeToWebSocket { socket in
          opened.append(socket)
          return socket.messages
        }
      }
      let client = WebSocketClient(on: time)
      var completions: [Subscribers.Completion<WebSocketError>] = []
      let work = (0..<2).map { _ in
        client.webSocket("ws://10.0.0.1/").flatMap { $0.messages }.sink {
          completions.append($0)
        } receiveValue: { _ in
        }
      }
      time.advance(by: .seconds(1))
      #expect(opened.count == 2 && server.connectionCount == 2)
      var isOver = false
      let ending = server.shutdown().sink { _ in
        isOver = true
      } receiveValue: { _ in
      }
      time.advance(by: .seconds(1))
      #expect(completions == [.finished, .finished])
      #expect(opened.allSatisfy { $0.state == .closed })
      #expect(isOver && server.connectionCount == 0)
      serving.cancel()
      ending.cancel()
      for one in work { one.cancel() }
      opened = []
      server.close()
    }
  }

  @Test func `releasing a client's socket closes it`() throws {
    try withVirtualTime { time in
      let server = try HTTPServer(at: .internet("10.0.0.1", port: 80), on: time)
      var completions: [Subscribers.Completion<WebSocketError>] = []
      let serving = server.serve { request in
        request.upgradeToWebSocket { socket in
          socket.messages.sink {
            completions.append($0)
          } receiveValue: { _ in
          }
        }
      }
      let work = WebSocketClient(on: time).webSocket("ws://10.0.0.1/").flatMap { $0.messages }
        .sink { _ in
        } receiveValue: { _ in
        }
      time.advance(by: .seconds(1))
      #expect(server.connectionCount == 1)
      work.cancel()
      time.advance(by: .seconds(1))
      #expect(completions.count == 1 && server.connectionCount == 0)
      serving.cancel()
      server.close()
    }
  }

  @Test func `each reason why a client can't open a socket has its own error`() throws {
    try withVirtualTime { time in
      let server = try HTTPServer(at: .internet("10.0.0.1", port: 80), on: time)
      let serving = server.serve { request in
        request.path == "/chat" ? request.upgradeToWebSocket { $0.messages } : ServerResponse(.notFound)
      }
      let silent = try Listener(at: .internet("10.0.0.1", port: 81), on: time)
      func error(_ url: String) -> WebSocketError? {
        var error: WebSocketError?
        let work = WebSocketClient(on: time).webSocket(url).sink {
          if case .failure(let failure) = $0 { error = failure }
        } receiveValue: { _ in
        }
        time.advance(by: .seconds(21))
        work.cancel()
        return error
      }
      #expect(error("ws://10.0.0.1/chat") == nil)
      #expect(error("ws://10.0.0.1/other") == .refused(status: 404, reason: "Not Found"))
      #expect(error("ws://10.0.0.1:81/") == .handshakeTimedOut(after: .seconds(10)))
      #expect(
        error("http://10.0.0.1/") == .badURL("http://10.0.0.1/", reason: "it does not begin with ws:// or wss://"))
      guard case .unreachable = error("ws://10.0.0.1:82/") else {
        Issue.record("somebody listens there")
        return
      }
      serving.cancel()
      server.close()
      silent.close()
    }
  }
}

extension Publishers {
  /// Delivers the same text several times.
  struct MapStrings: Publisher {
    typealias Output = WebSocketMessage
    typealias Failure = Never
    let text: String
    let count: Int

    func receive<S: Subscriber>(subscriber: S) where S.Input == WebSocketMessage, S.Failure == Never {
      (0..<count).publisher.map { _ in WebSocketMessage.text(text) }.receive(subscriber: subscriber)
    }
  }
}
