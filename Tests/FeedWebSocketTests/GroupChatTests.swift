import FeedHTTPServer
import FeedStream
import FeedWebSocket
import Synchronization
import TestSupport
import Testing

/// The chat of `docs/how-to/Chat.md` on several real loops.
@Suite(.settled, .timeLimit(.minutes(5))) struct GroupChatTests {
  @Test func `a message reaches the clients of all loops, sharing one copy of its bytes`() throws {
    let group = try EventLoopGroup(count: 2, name: "chat")
    let rooms = SharedValue<[StreamSender<WebSocketMessage, Never>]>([])
    let members = Mutex<[Int: Int]>([:])
    let memory = Mutex<[ObjectIdentifier: Set<Int>]>([:])
    let servers = try HTTPServerGroup(at: .internet("127.0.0.1", port: 0), on: group) { server in
      let said = PassthroughSubject<WebSocketMessage, Never>()
      let place = rooms.update { rooms in
        rooms.append(said.sender(on: server.scheduler, keepsLoopAlive: false))
        return rooms.count
      }
      let others = rooms.local()
      var routes = HTTPRoutes()
      routes.get("/chat") { request in
        request.upgradeToWebSocket { socket in
          members.withLock { $0[place, default: 0] += 1 }
          let hearing = said.handleEvents(receiveOutput: { message in
            _ = memory.withLock { $0[message.bytes.keptMemory.identity, default: []].insert(place) }
          }).buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest).write(to: socket)
            .sink { _ in
            } receiveValue: { _ in
            }
          let saying = socket.messages.sink { _ in
          } receiveValue: { message in
            for room in others.value { room.send(message) }
          }
          return AnyCancellable {
            hearing.cancel()
            saying.cancel()
          }
        }
      }
      return server.serve(routes)
    }
    let loop = EventLoop()
    var sockets: [WebSocket] = []
    var heard: [[String]] = Array(repeating: [], count: 32)
    var work: [AnyCancellable] = []
    for index in heard.indices {
      var options = WebSocketClient.Options()
      options.compression = nil
      WebSocketClient(options, on: loop).webSocket("ws://\(servers.address)/chat")
        .flatMap { socket in
          sockets.append(socket)
          return socket.messages
        }
        .sink { _ in
        } receiveValue: {
          heard[index].append($0.text ?? "")
        }
        .store(in: &work)
    }
    while sockets.count < 32 || members.withLock({ $0.values.reduce(0, +) }) < 32 { loop.run(.oneTurn) }
    Just(WebSocketMessage.text("high tide")).write(to: sockets[31]).sink { _ in
    } receiveValue: { _ in
    }.store(in: &work)
    while heard.contains(where: \.isEmpty) { loop.run(.oneTurn) }
    #expect(heard.allSatisfy { $0 == ["high tide"] })
    #expect(members.withLock { $0.count } == 2)
    // Both rooms have delivered the same memory.
    #expect(memory.withLock { $0.map(\.value) } == [[1, 2]])
    sockets = []
    work = []
    servers.close()
    group.shutdown()
    loop.run()
  }
}
