import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@Suite(.settled) struct EventLogTests {
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\n"

  /// The events that a client received, without the header and the `retry` line.
  private func events(_ client: MemoryChannel) -> String {
    let text = client.receive()
    guard text.hasPrefix("HTTP") else { return text }
    return text.components(after: "\r\n\r\n").components(after: "\n")
  }

  private func bench(_ log: (Bench) -> EventLog, _ greeting: EventLog.Event? = nil) -> (
    Bench, EventLog
  ) {
    let bench = Bench()
    let log = log(bench)
    return (bench.serve { _ in .events(log, greeting: greeting) }, log)
  }

  @Test func `each event reaches all clients, with its own id`() {
    let (bench, log) = bench { .init(epoch: "e", on: $0.time) }
    log.send("early")
    let first = bench.send(Self.get + "\r\n")
    let head = first.receive()
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n"))
    #expect(head.contains("Connection: close\r\n") && head.components(after: "\r\n\r\n").hasPrefix("retry: "))
    let second = bench.send(Self.get + "\r\n")
    #expect(log.send("a\nb\r\nc\rd", name: "n") == "e-2")
    bench.settle()
    for client in [first, second] {
      #expect(events(client) == "id: e-2\nevent: n\ndata: a\ndata: b\ndata: c\ndata: d\n\n")
    }
    bench.end()
    #expect(log.clientCount == 0)
  }

  @Test func `the greeting is sent on connection, after a reset if the client needs one`() {
    let (bench, log) = bench({ .init(epoch: "e", on: $0.time) }, .init("hello", name: "welcome"))
    log.send("early")
    let hello = "id: e-1\nevent: welcome\ndata: hello\n\n"
    #expect(events(bench.send(Self.get + "\r\n")) == hello)
    log.snapshot = { "now" }
    #expect(
      events(bench.send(Self.get + "Last-Event-ID: f-1\r\n\r\n")) == "id: e-1\nevent: reset\ndata: now\n\n" + hello)
    bench.end()
  }

  @Test func `a client that reconnects gets the events after its Last-Event-ID`() {
    let (bench, log) = bench { .init(keeping: 3, epoch: "e", on: $0.time) }
    log.snapshot = { "now" }
    for number in 1...5 { log.send("\(number)") }
    func since(_ id: String) -> String { events(bench.send(Self.get + "Last-Event-ID: \(id)\r\n\r\n")) }
    #expect(since("e-3") == "id: e-4\ndata: 4\n\nid: e-5\ndata: 5\n\n")
    #expect(since("e-2") == "id: e-3\ndata: 3\n\nid: e-4\ndata: 4\n\nid: e-5\ndata: 5\n\n")
    #expect(since("e-5") == "")
    for id in ["e-1", "e-6", "f-5", "5", "e-", "e-5-5", "-", "e-99999999999999999999"] {
      #expect(since(id) == "id: e-5\nevent: reset\ndata: now\n\n", "\(id)")
    }
    bench.end()
  }

  @Test func `with explicit ids, a client of one log can continue with another log`() {
    let (bench, log) = bench { .init(keeping: 3, epoch: "e", on: $0.time) }
    log.snapshot = { "now" }
    log.begin(after: "100-0")
    func since(_ id: String) -> String { events(bench.send(Self.get + "Last-Event-ID: \(id)\r\n\r\n")) }
    #expect(since("100-0") == "")
    for number in 1...4 { log.send("\(number)", id: "10\(number)-0") }
    #expect(since("101-0") == (2...4).map { "id: 10\($0)-0\ndata: \($0)\n\n" }.joined())
    #expect(since("104-0") == "")
    for id in ["100-0", "105-0", "e-4"] {
      #expect(since(id) == (id == "e-4" ? "" : "id: 104-0\nevent: reset\ndata: now\n\n"), "\(id)")
    }
    bench.end()
  }

  @Test func `a client with an id that was set between two events gets the later one`() {
    let (bench, log) = bench { .init(epoch: "e", on: $0.time) }
    log.begin(after: "100-0")
    log.send("1", id: "101-0")
    for id in ["102-0", "103-0"] { log.begin(after: id) }
    log.send("2", id: "104-0")
    for id in ["101-0", "102-0", "103-0"] {
      #expect(
        events(bench.send(Self.get + "Last-Event-ID: \(id)\r\n\r\n")) == "id: 104-0\ndata: 2\n\n", "\(id)")
    }
    bench.end()
  }

  @Test func `a reset reaches all clients, and makes earlier ids unknown`() {
    let (bench, log) = bench { .init(epoch: "e", on: $0.time) }
    log.snapshot = { "now" }
    log.send("1", id: "101-0")
    let client = bench.send(Self.get + "\r\n")
    _ = client.receive()
    log.reset(id: "90-0")
    bench.settle()
    #expect(events(client) == "id: 90-0\nevent: reset\ndata: now\n\n")
    for id in ["101-0", "e-1"] {
      #expect(
        events(bench.send(Self.get + "Last-Event-ID: \(id)\r\n\r\n")) == "id: 90-0\nevent: reset\ndata: now\n\n",
        "\(id)")
    }
    #expect(events(bench.send(Self.get + "Last-Event-ID: 90-0\r\n\r\n")) == "")
    bench.end()
  }

  @Test func `ids stay short however often a log is reset, and none occurs twice`() {
    let (bench, log) = bench { .init(epoch: "e", on: $0.time) }
    var ids: Set<String> = []
    for _ in 0..<1_000 {
      log.reset()
      ids.insert(log.send("x"))
    }
    #expect(ids.count == 1_000 && ids.allSatisfy { $0.utf8.count < 16 })
    bench.end()
  }

  @Test func `an epoch may contain hyphens`() {
    let (bench, log) = bench { .init(epoch: "web-1", on: $0.time) }
    for number in 1...3 { log.send("\(number)") }
    #expect(events(bench.send(Self.get + "Last-Event-ID: web-1-2\r\n\r\n")) == "id: web-1-3\ndata: 3\n\n")
    #expect(events(bench.send(Self.get + "Last-Event-ID: web-2\r\n\r\n")).contains("event: reset"))
    bench.end()
  }

  @Test func `a slow client costs no memory, and gets a reset when events it missed were dropped`() {
    let (bench, log) = bench { .init(keeping: 10, epoch: "e", on: $0.time) }
    log.snapshot = { "now" }
    let (slow, quick) = (bench.send(Self.get + "\r\n"), bench.send(Self.get + "\r\n"))
    _ = (slow.receive(), quick.receive())
    slow.takes = false
    for number in 1...50 {
      log.send("\(number)")
      bench.settle()
    }
    #expect(events(quick) == (1...50).map { "id: e-\($0)\ndata: \($0)\n\n" }.joined())
    slow.takes = true
    bench.settle()
    #expect(events(slow) == "id: e-1\ndata: 1\n\nid: e-50\nevent: reset\ndata: now\n\n")
    log.send("more")
    bench.settle()
    #expect(events(slow) == "id: e-51\ndata: more\n\n")
    bench.end()
  }

  @Test func `the kept events are bounded in bytes too`() {
    let (bench, log) = bench { .init(bytes: 1_000, epoch: "e", on: $0.time) }
    for _ in 1...100 { log.send(String(repeating: "x", count: 180)) }
    // Five events of about 197 bytes fit.
    #expect(events(bench.send(Self.get + "Last-Event-ID: e-95\r\n\r\n")).contains("id: e-96\n"))
    #expect(events(bench.send(Self.get + "Last-Event-ID: e-94\r\n\r\n")).contains("event: reset"))
    bench.end()
  }

  @Test func `a quiet stream sends a heartbeat, and a busy one doesn't`() {
    let (bench, log) = bench { .init(heartbeat: .seconds(10), epoch: "e", on: $0.time) }
    let client = bench.send(Self.get + "\r\n")
    _ = client.receive()
    bench.pass(.seconds(25))
    bench.settle()
    #expect(client.receive() == ":\n:\n")
    for _ in 0..<10 {
      bench.pass(.seconds(4))
      log.send("x")
      bench.settle()
    }
    #expect(!client.receive().contains("\n:"))
    bench.end()
  }

  @Test func `no more than a heartbeat passes without a byte`() {
    let (bench, log) = bench { .init(heartbeat: .seconds(10), epoch: "e", on: $0.time) }
    let first = bench.send(Self.get + "\r\n")
    for delay in [1, 4, 5, 6, 9] {
      bench.pass(.seconds(delay))
      let client = bench.send(Self.get + "\r\n")
      log.send("x")
      bench.settle()
      _ = (client.receive(), first.receive())
      bench.pass(.seconds(10))
      bench.settle()
      #expect(client.receive() == ":\n" && first.receive() == ":\n")
      client.breakOff()
    }
    bench.end()
  }

  @Test func `a client that disconnects or ends its input is removed`() {
    let (bench, log) = bench { .init(on: $0.time) }
    let (rude, polite) = (bench.send(Self.get + "\r\n"), bench.send(Self.get + "\r\n"))
    #expect(log.clientCount == 2)
    rude.breakOff()
    polite.endInput()
    #expect(log.clientCount == 0 && polite.isClosed)
    bench.end()
  }

  @Test func `a client that never reads is disconnected after its deadline`() {
    let (bench, log) = bench { .init(on: $0.time) }
    let client = bench.send(Self.get + "\r\n")
    client.takes = false
    log.send("x")
    bench.pass(.seconds(40))
    #expect(client.isClosed && log.clientCount == 0)
    bench.end()
  }

  @Test func `streams end when the log finishes or the server shuts down`() {
    let (bench, log) = bench { .init(epoch: "e", on: $0.time) }
    let client = bench.send(Self.get + "\r\n")
    log.send("last")
    log.finish()
    bench.settle()
    #expect(client.receive().hasSuffix("data: last\n\n") && client.hasEndedWriting)
    #expect(bench.send(Self.get + "\r\n").hasEndedWriting)
    bench.end()
    #expect(bench.time.pending.isEmpty)
    let (other, events) = self.bench { .init(on: $0.time) }
    let listener = other.send(Self.get + "\r\n")
    other.server.shutdown()
    other.settle()
    #expect(listener.hasEndedWriting && events.clientCount == 0)
    other.end()
  }

  @Test func `a stream that starts while the server shuts down ends`() {
    let (bench, log) = (Bench(), PassthroughSubject<ServerResponse, Never>())
    let events = EventLog(on: bench.time)
    let client = bench.serve { _ in log }.send(Self.get + "\r\n")
    var isOver = false
    let ending = bench.server.shutdown(within: .seconds(5)).sink { _ in
      isOver = true
    } receiveValue: { _ in
    }
    log.send(.events(events))
    bench.settle()
    #expect(client.hasEndedWriting && events.clientCount == 0)
    client.endInput()
    bench.settle()
    #expect(isOver)
    ending.cancel()
    bench.end()
  }

  @Test func `a client doesn't keep its request's memory block`() {
    let (bench, log) = bench { .init(on: $0.time) }
    let pool = ChunkPool(blockSize: 64 * 1024, keeping: 4)
    let client = bench.connect()
    do {
      var writer = ChunkWriter(pool, least: 1)
      let request = Array((Self.get + "\r\n").utf8)
      _ = writer.room().update(fromContentsOf: request)
      client.send(writer.take(request.count))
    }
    bench.settle()
    #expect(log.clientCount == 1 && pool.unused == 1)
    bench.end()
  }

  @Test func `HEAD of an event log gets no stream`() {
    let (bench, log) = bench { .init(on: $0.time) }
    let answer = bench.send("HEAD / HTTP/1.1\r\nHost: h\r\n\r\n").receive()
    #expect(answer.contains("text/event-stream") && log.clientCount == 0)
    bench.end()
  }

  @Test func `line breaks in an event's name are removed`() {
    let (bench, log) = bench { .init(epoch: "e", on: $0.time) }
    let client = bench.send(Self.get + "\r\n")
    _ = client.receive()
    log.send("x", name: "a\ndata: b\r\nid: 7")
    bench.settle()
    #expect(client.receive() == "id: e-1\nevent: adata: bid: 7\ndata: x\n\n")
    bench.end()
  }
}
