import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedWebSocket

/// The chat of `docs/how-to/Chat.md`, in virtual time: many clients, slow ones, and connections that are cut.
@Suite(.settled) struct ChatTests {
  /// A client of the chat, and the messages that it has received.
  private final class Member {
    private(set) var heard: [String] = []
    private(set) var ending: Subscribers.Completion<WebSocketError>?
    private var socket: WebSocket?
    private var work: [AnyCancellable] = []

    /// - Parameter pause: the time that it takes to read a message.
    init(_ time: VirtualTimeScheduler, pause: StreamInstant.Stride? = nil) {
      // Without compression, messages have a known length.
      var options = WebSocketClient.Options()
      options.compression = nil
      WebSocketClient(options, on: time).webSocket("ws://10.0.0.1/chat")
        .flatMap { [unowned self] socket -> AnyPublisher<WebSocketMessage, WebSocketError> in
          self.socket = socket
          guard let pause else { return socket.messages.eraseToAnyPublisher() }
          return socket.messages
            .flatMap(maxPublishers: .max(1)) { message in
              Just(message).delay(for: pause, scheduler: time).setFailureType(to: WebSocketError.self)
            }
            .eraseToAnyPublisher()
        }
        .sink { [unowned self] in
          ending = $0
          socket = nil
        } receiveValue: { [unowned self] in
          heard.append($0.text ?? "")
        }
        .store(in: &work)
    }

    func say(_ text: String) {
      guard let socket else { return }
      Just(WebSocketMessage.text(text)).write(to: socket).sink { _ in
      } receiveValue: { _ in
      }.store(in: &work)
    }

    func leave() {
      socket = nil
      work = []
    }
  }

  /// The client of `docs/how-to/Chat.md` that talks.
  private final class ChatClient {
    let toSay = PassthroughSubject<String, Never>()
    private(set) var heard: [String] = []
    private var subscription: AnyCancellable?

    init(_ url: String, on scheduler: any LoopScheduler) {
      let saying = toSay.map { WebSocketMessage.text($0) }
        .buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest)
      subscription = WebSocketClient(on: scheduler).webSocket(url)
        .eraseFailureType()
        .flatMap { socket in
          socket.messages.eraseFailureType()
            .merge(with: saying.write(to: socket).ignoreOutput().setOutputType(to: WebSocketMessage.self))
        }
        .sink { _ in
        } receiveValue: { [unowned self] in
          heard.append($0.text ?? "")
        }
    }

    func leave() { subscription = nil }
  }

  private func withChat(_ body: (VirtualTimeScheduler, ChatRoom) throws -> Void) throws {
    try withVirtualTime { time in
      time.network.link.latency = .milliseconds(10)
      let server = try HTTPServer(at: .internet("10.0.0.1", port: 80), on: time)
      let room = ChatRoom()
      var routes = HTTPRoutes()
      routes.get("/chat") { request in request.upgradeToWebSocket { socket in room.join(socket) } }
      let serving = server.serve(routes)
      try body(time, room)
      serving.cancel()
      server.close()
      time.advance(by: .seconds(1))
      #expect(room.memberCount == 0)
    }
  }

  @Test func `every member receives every message, in order`() throws {
    try withChat { time, room in
      let members = (0..<50).map { _ in Member(time) }
      time.advance(by: .seconds(1))
      #expect(room.memberCount == 50)
      for round in 0..<20 { members[round % 50].say("\(round)") }
      time.advance(by: .seconds(1))
      for member in members { #expect(member.heard == (0..<20).map { "\($0)" }) }
      for one in members { one.leave() }
      time.advance(by: .seconds(1))
      #expect(room.memberCount == 0)
    }
  }

  @Test func `a client hears the others on the stream on which it talks`() throws {
    try withChat { time, room in
      let clients = (0..<2).map { _ in ChatClient("ws://10.0.0.1/chat", on: time) }
      time.advance(by: .seconds(1))
      clients[0].toSay.send("hello")
      clients[1].toSay.send("hi")
      time.advance(by: .seconds(1))
      for client in clients { #expect(client.heard.sorted() == ["hello", "hi"]) }
      for client in clients { client.leave() }
      time.advance(by: .seconds(1))
      #expect(room.memberCount == 0)
    }
  }

  @Test func `a slow reader misses the oldest messages, and delays no other member`() throws {
    StreamDiagnostics.onDrop { _ in }
    defer { StreamDiagnostics.onDrop(nil) }
    try withChat { time, room in
      // The connection has a small buffer.
      time.network.link.buffer = 2_048
      let slow = Member(time, pause: .seconds(1))
      time.advance(by: .seconds(1))
      time.network.link.buffer = 64 * 1024
      let fast = (0..<5).map { _ in Member(time) }
      time.advance(by: .seconds(1))
      let line = String(repeating: "x", count: 1_000)
      for round in 0..<400 {
        fast[0].say("\(round) \(line)")
        time.advance(by: .milliseconds(20))
      }
      for member in fast { #expect(member.heard.count == 400) }
      time.advance(by: .seconds(400))
      #expect(slow.heard.count < 400 && slow.heard.count > 100)
      #expect(slow.heard.last?.prefix(4) == "399 ", "\(slow.heard.count) \(slow.ending as Any)")
      let rounds = slow.heard.compactMap { Int($0.prefix { $0 != " " }) }
      #expect(rounds == rounds.sorted())
      for one in [slow] + fast { one.leave() }
      time.advance(by: .seconds(1))
    }
  }

  @Test func `members that lose their connections are removed, and the others continue`() throws {
    try withChat { time, room in
      let cut = (0..<5).map { _ in Member(time) }
      time.advance(by: .seconds(1))
      time.network.loseConnections()
      let whole = (0..<5).map { _ in Member(time) }
      time.advance(by: .seconds(1))
      #expect(room.memberCount == 5)
      for member in cut {
        guard case .failure(.connectionLost) = member.ending else {
          Issue.record("\(member.ending as Any)")
          continue
        }
      }
      whole[0].say("still here")
      time.advance(by: .seconds(1))
      for member in whole { #expect(member.heard == ["still here"]) }
      for one in whole { one.leave() }
      time.advance(by: .seconds(1))
    }
  }

  @Test(arguments: [1, 7, 100])
  func `messages arrive intact however the network splits them`(_ segment: Int) throws {
    try withChat { time, room in
      time.network.link.segment = segment
      let members = (0..<3).map { _ in Member(time) }
      time.advance(by: .seconds(1))
      for round in 0..<10 { members[1].say("\(round) κόσμε") }
      time.advance(by: .seconds(1))
      for member in members { #expect(member.heard == (0..<10).map { "\($0) κόσμε" }) }
      for one in members { one.leave() }
      time.advance(by: .seconds(1))
    }
  }
}
