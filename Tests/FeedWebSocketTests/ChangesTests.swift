import FeedHTTPServer
import FeedStream
import FeedWebSocket
import Foundation
import TestSupport
import Testing

struct Item: Codable, Sendable {
  var id: Int
  var name: String
}

/// Keeps the items, and sends each new one to the stream of changes.
actor ItemStore {
  private let changes: StreamSender<Item, Never>
  private var items: [Item] = []

  init(changes: StreamSender<Item, Never>) { self.changes = changes }

  func all() -> [Item] { items }

  func add(_ name: String) -> Item {
    let item = Item(id: items.count + 1, name: name)
    items.append(item)
    changes.send(item)
    return item
  }
}

func itemRoutes(_ store: ItemStore, _ changed: PassthroughSubject<Item, Never>) -> HTTPRoutes {
  var routes = HTTPRoutes()
  routes.onAsync(.get, "/items") { _ in try await .json(store.all()) }
  routes.onAsync(.post, "/items") { request in
    try await .json(store.add(request.decoded(as: String.self)), .created)
  }
  routes.get("/changes") { request in
    request.upgradeToWebSocket { socket in
      changed
        .encode(encoder: JSONEncoder())
        .map { WebSocketMessage.text(String(decoding: $0, as: UTF8.self)) }
        .buffer(size: 100, prefetch: .byRequest, whenFull: .dropOldest)
        .write(to: socket)
    }
  }
  return routes
}

/// The actor of `docs/how-to/Chat.md`, on a real loop.
@Suite(.settled, .timeLimit(.minutes(5))) struct ChangesTests {
  @Test func `a change that an actor makes reaches every socket`() throws {
    let loop = EventLoop()
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    let changed = PassthroughSubject<Item, Never>()
    let store = ItemStore(changes: changed.sender(on: loop))
    let serving = server.serve(itemRoutes(store, changed))
    let port = try #require(server.address?.port)
    var heard: [Int: String] = [:]
    var work: [AnyCancellable] = []
    for client in 0..<2 {
      WebSocketClient(on: loop).webSocket("ws://127.0.0.1:\(port)/changes")
        .flatMap { socket in socket.messages }
        .sink { _ in
        } receiveValue: {
          heard[client] = $0.text
        }
        .store(in: &work)
    }
    // A socket misses the changes that are made before it is open, so make changes until both have received one.
    Interval(every: .milliseconds(10), scheduler: loop)
      .mapAsync(limit: 1) { _ in await store.add("gull") }
      .sink { _ in }
      .store(in: &work)
    while heard.count < 2 { loop.run(.oneTurn) }
    #expect(heard.values.allSatisfy { $0.contains("\"name\":\"gull\"") }, "\(heard)")
    work = []
    serving.cancel()
    server.close()
    loop.run()
  }
}
