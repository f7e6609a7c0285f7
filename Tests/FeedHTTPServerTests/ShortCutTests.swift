import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

/// A write that the system accepts immediately needs no turn of the loop, and a partial write continues where it
/// stopped.
@Suite(.settled) struct ShortCutTests {
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
  private static let answer = ConversationTests.ok("hello")

  @Test(arguments: [0, 1, 7, 40, 150, 1_000_000]) func `a response arrives complete, however much the socket accepts`(
    _ room: Int
  ) {
    let bench = Bench().serve { _ in .text("hello") }
    let client = bench.connect()
    client.room = room
    client.send(Self.get)
    bench.settle()
    #expect(client.receive() == Self.answer)
    #expect(client.writes == (room >= Self.answer.utf8.count ? 0 : 1))
    bench.end()
  }

  @Test(arguments: [0, 1_000, 1_000_000]) func `pipelined requests all get responses, however much the socket accepts`(
    _ room: Int
  ) {
    let bench = Bench { $0.bufferedBytes = 500 }.serve { _ in .text("hello") }
    let client = bench.connect()
    client.room = room
    client.send(String(repeating: Self.get, count: 50))
    for _ in 0..<60 { bench.settle() }
    #expect(client.receive() == String(repeating: Self.answer, count: 50))
    bench.end()
  }

  @Test func `a pending response doesn't keep the shared block of other responses`() {
    let bench = Bench { $0.bufferedBytes = 500 }.serve { _ in .text("hello") }
    let client = bench.connect()
    client.send(String(repeating: Self.get, count: 20))
    for _ in 0..<30 { bench.settle() }
    #expect(client.writes > 1)
    #expect(client.cuttings == 0)
    bench.end()
  }

  @Test(arguments: [10, 1_000_000]) func `a reconnecting client gets all missed events, however much its socket takes`(
    _ room: Int
  ) {
    let bench = Bench()
    let log = EventLog(epoch: "e", on: bench.time)
    _ = bench.serve { _ in .events(log) }
    for number in 1...2_000 { log.send("\(number)") }
    let client = bench.connect()
    client.room = room
    client.send("GET / HTTP/1.1\r\nHost: h\r\nLast-Event-ID: e-0\r\n\r\n")
    for _ in 0..<20 { bench.settle() }
    log.send("live")
    bench.settle()
    let events = client.receive().components(after: "\r\n\r\n").components(after: "\n")
    #expect(events == (1...2_000).map { "id: e-\($0)\ndata: \($0)\n\n" }.joined() + "id: e-2001\ndata: live\n\n")
    bench.end()
  }

  @Test func `the last response is written before the connection closes`() {
    let bench = Bench().serve { _ in .text("hello") }
    let client = bench.connect()
    client.room = 1_000_000
    client.send("GET / HTTP/1.0\r\n\r\n")
    bench.settle()
    #expect(client.receive() == ConversationTests.ok("hello", closes: true))
    #expect(client.hasEndedWriting)
    bench.end()
  }
}
