import FeedHTTPServer
import FeedStream
import Synchronization
import TestSupport
import Testing

/// Servers on several real loops that share a port.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServerGroupTests {
  private let group: EventLoopGroup
  private static let anywhere = SocketAddress.internet("127.0.0.1", port: 0)
  private let reserved: ReservedPort

  init() throws {
    group = try EventLoopGroup(count: 2, name: "serving")
    reserved = try ReservedPort()
  }

  /// An address whose port no other test's server gets after this one's has stopped.
  private var reservedAddress: SocketAddress { .internet("127.0.0.1", port: reserved.number) }

  /// The number of the loop that runs the calling code.
  @Sendable private static func number(in group: EventLoopGroup) -> Int {
    group.loops.firstIndex { $0.isCurrent } ?? -1
  }

  /// Servers whose responses are the number of their loop.
  private func servers(
    at address: SocketAddress = Self.anywhere, _ limits: HTTPServerLimits = HTTPServerLimits()
  ) throws -> HTTPServerGroup {
    try HTTPServerGroup(at: address, limits: limits, on: group) { [group] server in
      let home = Self.number(in: group)
      return server.serve { _ in .text("\(home == Self.number(in: group) ? home : -2)\n") }
    }
  }

  private func client(of servers: HTTPServerGroup) throws -> BlockingClient {
    try #require(BlockingClient(port: servers.address.port ?? 0))
  }

  @Test func `clients are divided among all loops, and each stays on one`() async throws {
    let servers = try servers()
    let clients = try (0..<64).map { _ in try client(of: servers) }
    let first = clients.map { $0.ask("/") }
    // The probability that all connections are on one loop is 2 in 2⁶⁴.
    #expect(Set(first) == ["0\n", "1\n"])
    #expect(clients.map { $0.ask("/") } == first)
    let count = await servers.connectionCount
    #expect(count == 64)
    servers.close()
    group.shutdown()
  }

  @Test func `closing a group closes all connections and frees the port`() throws {
    let servers = try servers(at: reservedAddress)
    let clients = try (0..<16).map { _ in try client(of: servers) }
    for client in clients { _ = client.ask("/") }
    servers.close()
    for client in clients { #expect(client.rest() == "") }
    for loop in group.loops { loop.result(of: {}) }
    #expect(BlockingClient(port: servers.address.port ?? 0) == nil)
    let loop = EventLoop()
    let next = try HTTPServer(at: servers.address, on: loop)
    next.close()
    loop.close()
    group.shutdown()
  }

  @Test func `shutting down a group waits for the connections of all loops`() async throws {
    let served = Atomic(0)
    let servers = try HTTPServerGroup(at: reservedAddress, on: group) { server in
      server.serve { _ in
        served.add(1, ordering: .relaxed)
        return Just(ServerResponse.text("late\n")).delay(for: .milliseconds(50), scheduler: EventLoop.current!)
      }
    }
    let clients = try (0..<16).map { _ in try client(of: servers) }
    for client in clients { client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
    while served.load(ordering: .relaxed) < 16 { await Task.yield() }
    await servers.shutdown()
    #expect(clients.allSatisfy { $0.rest().hasSuffix("late\n") })
    #expect(BlockingClient(port: servers.address.port ?? 0) == nil)
    // A second shutdown, and one without loops, have no effect.
    await servers.shutdown()
    group.shutdown()
    await servers.shutdown()
  }

  @Test func `a group may be closed while it shuts down`() async throws {
    let served = Atomic(0)
    let servers = try HTTPServerGroup(at: reservedAddress, on: group) { server in
      server.serve { _ in
        served.add(1, ordering: .relaxed)
        return PassthroughSubject<ServerResponse, Never>()
      }
    }
    let clients = try (0..<8).map { _ in try client(of: servers) }
    for client in clients { client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n") }
    while served.load(ordering: .relaxed) < 8 { await Task.yield() }
    let stopping = Task { await servers.shutdown(within: .seconds(3600)) }
    while BlockingClient(port: servers.address.port ?? 0) != nil { await Task.yield() }
    servers.close()
    await stopping.value
    for client in clients { #expect(client.rest() == "") }
    group.shutdown()
  }

  @Test func `a group can't listen on another group's port`() throws {
    let servers = try servers()
    let other = try EventLoopGroup(count: 2, name: "other")
    #expect(throws: SystemError("listen on", "\(servers.address)", code: 98)) {
      try HTTPServerGroup(at: servers.address, on: other) { $0.serve { _ in .text("") } }
    }
    servers.close()
    group.shutdown()
    other.shutdown()
    #expect(throws: SystemError.self) {
      try HTTPServerGroup(at: Self.anywhere, on: other) { $0.serve { _ in .text("") } }
    }
  }

  private struct Refusal: Error {}

  @Test func `an error in one loop's setup leaves no loop listening`() throws {
    let begun = Atomic(0)
    let port = Atomic(0)
    #expect(throws: Refusal.self) {
      try HTTPServerGroup(at: reservedAddress, on: group) { server in
        port.store(server.address?.port ?? 0, ordering: .relaxed)
        if begun.add(1, ordering: .relaxed).newValue == 2 { throw Refusal() }
        return server.serve { _ in .text("") }
      }
    }
    let taken = port.load(ordering: .relaxed)
    #expect(taken != 0 && BlockingClient(port: taken) == nil)
    group.shutdown()
  }

  @Test func `a client's connections are limited across all loops`() throws {
    var limits = HTTPServerLimits()
    limits.connectionsPerAddress = 3
    limits.isUnlimited = { _ in false }
    let servers = try servers(limits)
    let clients = try (0..<12).map { _ in try client(of: servers) }
    #expect(clients.count { $0.ask("/") != "" } == 3)
    servers.close()
    group.shutdown()
  }

  @Test func `a change of a SharedValue reaches all loops`() throws {
    let greeting = SharedValue("first")
    let servers = try HTTPServerGroup(at: Self.anywhere, on: group) { server in
      let greeting = greeting.local()
      return server.serve { _ in .text("\(greeting.value)\n") }
    }
    let clients = try (0..<16).map { _ in try client(of: servers) }
    #expect(Set(clients.map { $0.ask("/") }) == ["first\n"])
    greeting.value = "second"
    #expect(Set(clients.map { $0.ask("/") }) == ["second\n"])
    #expect(greeting.update { $0.count } == 6)
    servers.close()
    group.shutdown()
  }

  @Test func `an event sent to a channel reaches the clients of all loops`() async throws {
    let events = EventLog.Channel(epoch: "e")
    let servers = try HTTPServerGroup(at: Self.anywhere, on: group) { [group] server in
      let log = EventLog(of: events, on: server.scheduler)
      return server.serve { _ in .events(log, greeting: .init("\(Self.number(in: group))")) }
    }
    events.send("early")
    for loop in group.loops { loop.result(of: {}) }
    let clients = try (0..<32).map { _ in try client(of: servers) }
    let greetings = clients.map { client in
      client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      _ = client.text(upTo: "data: ")
      return client.text(upTo: "\n\n")
    }
    #expect(Set(greetings) == ["0\n\n", "1\n\n"])
    // Send from other threads at the same time.
    await withTaskGroup { tasks in for name in 0..<4 { tasks.addTask { events.send("\(name)") } } }
    let heard = clients.map { client in (0..<4).map { _ in client.text(upTo: "\n\n") } }
    #expect(Set(heard).count == 1)
    #expect(Set(heard[0].map { $0.suffix(3) }) == ["0\n\n", "1\n\n", "2\n\n", "3\n\n"])
    #expect(heard[0].map { $0.prefix(7) } == (2...5).map { "id: e-\($0)" })
    // A client continues where it stopped, on any loop.
    for _ in 0..<16 {
      let client = try client(of: servers)
      client.send("GET / HTTP/1.1\r\nHost: h\r\nLast-Event-ID: e-4\r\n\r\n")
      _ = client.text(upTo: "retry: ")
      _ = client.text(upTo: "\n\n")
      #expect(client.text(upTo: "\n\n") == heard[0][3])
    }
    events.finish()
    for client in clients { #expect(client.rest() == "") }
    servers.close()
    group.shutdown()
  }

  @Test func `a busy connection doesn't starve the others on its loop`() throws {
    let one = try EventLoopGroup(count: 1)
    let hot = Atomic(0)
    let servers = try HTTPServerGroup(at: Self.anywhere, on: one) { server in
      server.serve { request in
        if request.path == "/hot" { hot.add(1, ordering: .relaxed) }
        return .text("\n")
      }
    }
    // This client sends requests without waiting for responses, and ends when the other one has received all of its
    // responses.
    let flood = try EventLoopThread(name: "flood")
    let requests = Chunk(String(repeating: "GET /hot HTTP/1.1\r\nHost: h\r\n\r\n", count: 1000))
    let flooding = flood.run { [address = servers.address] loop in
      Connection.connect(to: address, on: loop)
        .eraseFailureType()
        .flatMap { connection in
          let sent = repeatElement(requests, count: .max).publisher
            .write(to: connection).eraseFailureType().map { (_: Never) -> Chunk in }
          return connection.bytes.eraseFailureType().merge(with: sent)
        }
        .sink { _ in
        } receiveValue: { _ in
        }
    }
    let cold = try client(of: servers)
    while hot.load(ordering: .relaxed) < 1000 {}
    for _ in 0..<100 { #expect(cold.ask("/cold") == "\n") }
    flooding.cancel()
    flood.shutdown()
    servers.close()
    one.shutdown()
    group.shutdown()
  }
}
