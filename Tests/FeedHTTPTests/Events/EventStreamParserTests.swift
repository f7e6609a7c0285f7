import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing

@testable import FeedHTTP

/// The cases of web-platform-tests for the format (`eventsource/format-*`), and further cases from the standard.
@Suite(.settled) struct EventStreamParserTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let stream: [UInt8]
    let events: [ServerEvent]
    var retry: Int?
    var lastID = ""

    init(_ name: String, _ stream: String, _ events: [ServerEvent], retry: Int? = nil, lastID: String = "") {
      self.init(name, Array(stream.utf8), events, retry: retry, lastID: lastID)
    }

    init(_ name: String, _ stream: [UInt8], _ events: [ServerEvent], retry: Int? = nil, lastID: String = "") {
      (testDescription, self.stream, self.events, self.retry, self.lastID) = (name, stream, events, retry, lastID)
    }
  }

  private static func data(_ texts: String...) -> [ServerEvent] { texts.map { ServerEvent(data: $0) } }

  static let cases: [Case] = [
    Case("format-bom", "\u{FEFF}data:1\n\n\u{FEFF}data:2\n\ndata:3\n\n", data("1", "3")),
    Case("format-bom-2", "\u{FEFF}\u{FEFF}data:1\n\ndata:2\n\ndata:3\n\n", data("2", "3")),
    Case("a byte order mark that is cut short", [0xEF, 0xBB] + Array("data:1\n\ndata:2\n\n".utf8), data("2")),
    Case(
      "format-comments",
      "data:1\n:\0\n:\r\ndata:2\n:\(String(repeating: "x", count: 2048))\rdata:3\n:data:fail\r:x\ndata:4\n\n",
      data("1\n2\n3\n4")),
    Case(
      "format-data-before-final-empty-line", "retry:1000\ndata:test1\n\nid:test\ndata:test2", data("test1"), retry: 1000
    ),
    Case("format-field-data", "data:\n\ndata\ndata\n\ndata:test\n\n", data("", "\n", "test")),
    Case("format-field-event-empty", "event: \ndata:data\n\n", data("data")),
    Case(
      "format-field-event", "event:test\ndata:x\n\ndata:x\n\n",
      [ServerEvent(event: "test", data: "x"), ServerEvent(data: "x")]),
    Case(
      "format-field-id", "id:1\ndata:a\n\nid\ndata:b\n\n", [ServerEvent(id: "1", data: "a"), ServerEvent(data: "b")]),
    Case(
      "format-field-id-2", "id: 1\ndata:1\n\ndata:2\n\nid: \u{2026}\ndata:3\n\n",
      [ServerEvent(id: "1", data: "1"), ServerEvent(id: "1", data: "2"), ServerEvent(id: "\u{2026}", data: "3")],
      lastID: "\u{2026}"),
    Case("format-field-id-null", "id:a\0b\ndata:x\n\n", data("x")),
    Case(
      "an id with NUL leaves the one before", "id:1\nid:\0\ndata:x\n\n", [ServerEvent(id: "1", data: "x")], lastID: "1"),
    Case(
      "format-field-parsing",
      "data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:\r\n data:32\ndata:4\n\n",
      data("\0\n 2\n1\n3\n\n4")),
    Case("format-field-retry", "retry:3000\ndata:x\n\n", data("x"), retry: 3000),
    Case("format-field-retry-bogus", "retry:3000\nretry:1000x\ndata:x\n\n", data("x"), retry: 3000),
    Case("format-field-retry-empty", "retry:3000\nretry\ndata:test\n\n", data("test"), retry: 3000),
    Case(
      "a retry with a sign or a space is none", "retry:+5\nretry:-5\nretry:  5\nretry:\u{FF15}\ndata:x\n\n", data("x")),
    Case(
      "format-field-unknown", "data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
      data("test\n\ntest")),
    Case("format-leading-space", "data:\ttest\rdata: \ndata:test\n\n", data("\ttest\n\ntest")),
    Case("format-newlines", "data:test\r\ndata\ndata:test\r\n\r", data("test\n\ntest")),
    Case("format-null-character", "data:\0\n\n\n\n", data("\0")),
    Case("format-utf-8", "data:ok\u{2026}\n\n", data("ok\u{2026}")),
    Case(
      "bytes that are not UTF-8 are replaced", Array("data:a".utf8) + [0xFF] + Array("b\n\n".utf8), data("a\u{FFFD}b")),
    Case(
      "an event without data only moves the id", "event:x\nid:7\n\ndata:1\n\n", [ServerEvent(id: "7", data: "1")],
      lastID: "7"),
    Case(
      "an id counts when its event is whole", "id:1\ndata:a\n\nid:2\ndata:b", [ServerEvent(id: "1", data: "a")],
      lastID: "1"),
    Case("nothing", "", []),
  ]

  @Test(arguments: cases) func `an event stream is parsed as in the standard, however its bytes are split`(
    _ given: Case
  ) {
    for size in [1, 2, 3, 7, max(1, given.stream.count)] {
      var parser = EventStreamParser(limit: 1 << 20, lastID: "")
      var events: [ServerEvent] = []
      var rest = given.stream[...]
      while !rest.isEmpty {
        parser.read(Chunk(rest.prefix(size))) { events.append($0) }
        rest = rest.dropFirst(size)
      }
      #expect(events == given.events, "in pieces of \(size)")
      #expect(parser.retry == given.retry)
      #expect(parser.lastID == given.lastID)
    }
  }

  @Test func `an event over the limit stops parsing, and comments don't count`() {
    var parser = EventStreamParser(limit: 100, lastID: "")
    var events = 0
    for _ in 0..<100 { parser.read(Chunk(":" + String(repeating: "x", count: 60) + "\n")) { _ in events += 1 } }
    parser.read(Chunk("data:1\n\n")) { _ in events += 1 }
    #expect(!parser.isTooLong)
    for _ in 0..<30 { parser.read(Chunk("data:1\n")) { _ in events += 1 } }
    #expect(parser.isTooLong)
    #expect(events == 1)
    var line = EventStreamParser(limit: 100, lastID: "")
    for _ in 0..<101 { line.read(Chunk("x")) { _ in } }
    #expect(line.isTooLong)
  }

  @Test func `random bytes never crash the parser, and parse identically however they are split`() {
    var random = SeededGenerator(seed: 32)
    let alphabet = Array("data:id event retry\r\n\n\r: 0123\0".utf8) + [0xEF, 0xBB, 0xBF, 0xFF]
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in alphabet.randomElement(using: &random)! }
      var whole = EventStreamParser(limit: 1 << 20, lastID: "")
      var cut = whole
      var (first, second): ([ServerEvent], [ServerEvent]) = ([], [])
      whole.read(Chunk(bytes)) { first.append($0) }
      for byte in bytes { cut.read(Chunk([byte])) { second.append($0) } }
      #expect(first == second)
      #expect(whole.lastID == cut.lastID && whole.retry == cut.retry)
    }
  }
}
