import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedHTTPServer

/// The logs of one channel, in virtual time and on real loops.
@Suite(.settled) struct EventChannelTests {
  private typealias Log = EventLog

  private func bench(_ channel: Log.Channel, _ count: Int = 2) -> (Bench, [Log]) {
    let bench = Bench()
    let logs = (0..<count).map { _ in Log(of: channel, on: bench.time) }
    return (bench.serve { .events(logs[Int($0.path.dropFirst()) ?? 0]) }, logs)
  }

  private func events(_ client: MemoryChannel) -> String {
    let text = client.receive()
    guard text.hasPrefix("HTTP") else { return text }
    return text.components(after: "\r\n\r\n").components(after: "\n")
  }

  private static func get(_ log: Int, after id: String? = nil) -> String {
    "GET /\(log) HTTP/1.1\r\nHost: h\r\n" + (id.map { "Last-Event-ID: \($0)\r\n" } ?? "") + "\r\n"
  }

  @Test func `all event logs of a channel send the same bytes`() {
    let channel = Log.Channel(epoch: "e")
    let (bench, logs) = bench(channel)
    let clients = (0..<2).map { bench.send(Self.get($0)) }
    for client in clients { _ = client.receive() }
    #expect(channel.send("high tide", name: "sea") == "e-1")
    bench.settle()
    for client in clients { #expect(events(client) == "id: e-1\nevent: sea\ndata: high tide\n\n") }
    let memory = Set(logs.map { $0.ring[1].keptMemory.identity })
    #expect(memory.count == 1)
    bench.end()
  }

  @Test func `an event or reset of one log reaches the clients of all logs`() {
    let (bench, logs) = bench(Log.Channel(epoch: "e"))
    logs[0].snapshot = { "now" }
    logs[0].begin(after: "100")
    let clients = (0..<2).map { bench.send(Self.get($0)) }
    for client in clients { _ = client.receive() }
    #expect(logs[0].send("a", id: "101") == "101")
    #expect(logs[1].send("b") == "e-2")
    bench.settle()
    logs[0].reset()
    bench.settle()
    for client in clients {
      #expect(events(client) == "id: 101\ndata: a\n\nid: e-2\ndata: b\n\nid: er1-3\nevent: reset\ndata: now\n\n")
    }
    // Neither log knows an earlier id.
    for log in 0..<2 { #expect(events(bench.send(Self.get(log, after: "101"))).hasPrefix("id: er1-3\nevent: reset")) }
    bench.end()
  }

  @Test func `a log that joins later can send the events that the channel keeps`() {
    let channel = Log.Channel(keeping: 3, epoch: "e")
    for number in 1...4 { channel.send("\(number)") }
    let (bench, _) = bench(channel)
    channel.send("5")
    bench.settle()
    for log in 0..<2 {
      #expect(events(bench.send(Self.get(log, after: "e-3"))) == "id: e-4\ndata: 4\n\nid: e-5\ndata: 5\n\n")
      #expect(events(bench.send(Self.get(log, after: "e-1"))).contains("event: reset"))
    }
    channel.finish()
    bench.settle()
    let late = bench.send(Self.get(0))
    #expect(late.isClosed || late.hasEndedWriting)
    bench.end()
  }

  @Test func `all event logs have the order of the ids, whichever loops send the events`() async throws {
    let channel = Log.Channel(epoch: "e")
    let threads = try (0..<2).map { _ in try EventLoopThread() }
    let logs = threads.map { thread in thread.run { loop in Log(of: channel, on: loop) } }
    let other = threads[1].loop
    // The second loop sends while the first one is in a turn in which it sends, too.
    _ = await logs[0].get { log in
      for number in [1, 3] {
        log.send("\(number)")
        other.result(of: { channel.send("\(number + 1)") })
      }
    }
    for log in logs {
      let events = await log.get { log in (1...4).map { log.ring[$0].text } }
      #expect(events == (1...4).map { "id: e-\($0)\ndata: \($0)\n\n" })
    }
    for thread in threads { thread.shutdown() }
  }

  @Test func `a released log receives no more events`() {
    let channel = Log.Channel()
    weak var gone: Log?
    withVirtualTime { time in
      do {
        let log = Log(of: channel, on: time)
        gone = log
        channel.send("on its way")
      }
      time.run()
    }
    #expect(gone == nil)
    #expect(channel.logCount == 0)
    channel.send("to nobody")
  }
}
