import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedHTTP

/// Ranges of stored responses: RFC 9110, section 14.
@Suite(.settled) struct CachedRangeTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var range: [String]
    var fields: [(String, String)] = []
    /// The part of the stored "0123456789" that is delivered; `nil` when the request goes to the server.
    var part: String?
    var contentRange: String?
    var status = 206
    var stored: [(String, String)] = [("Cache-Control", "max-age=10"), ("ETag", "\"a\""), ("Content-Length", "10")]
    var wait = 1.0
    var testDescription: String { "\(range) \(fields)" }
  }

  static let rows = [
    Row(range: ["bytes=0-1"], part: "01", contentRange: "bytes 0-1/10"),
    Row(range: ["bytes=8-"], part: "89", contentRange: "bytes 8-9/10"),
    Row(range: ["bytes=-3"], part: "789", contentRange: "bytes 7-9/10"),
    Row(range: ["bytes=-30"], part: "0123456789", contentRange: "bytes 0-9/10"),
    Row(range: ["bytes=9-100"], part: "9", contentRange: "bytes 9-9/10"),
    Row(range: ["bytes=10-"]), Row(range: ["bytes=-0"]), Row(range: ["bytes=5-3"]), Row(range: ["bytes=-"]),
    Row(range: ["bytes=0-1,3-4"]), Row(range: ["lines=0-1"]), Row(range: ["bytes=0-1", "bytes=3-4"]),
    Row(range: ["bytes=0-99999999999999999999"], part: "0123456789", contentRange: "bytes 0-9/10"),
    Row(range: ["bytes=0-1"], fields: [("If-Range", "\"a\"")], part: "01", contentRange: "bytes 0-1/10"),
    Row(range: ["bytes=0-1"], fields: [("If-Range", "\"b\"")], part: "0123456789", status: 200),
    Row(range: ["bytes=0-1"], fields: [("If-None-Match", "\"a\"")], part: "", status: 304),
    Row(range: ["bytes=0-1"], fields: [("If-None-Match", "\"b\"")], part: "01", contentRange: "bytes 0-1/10"),
    Row(range: ["bytes=0-1"], stored: [("Cache-Control", "max-age=10"), ("Content-Encoding", "gzip")]),
    Row(range: ["bytes=0-1"], wait: 11),
  ]

  @Test(arguments: rows) func `a range of a fresh stored response comes from the cache`(_ row: Row) {
    withVirtualTime { time in
      let world = CacheWorld(time)
      world.origin.answers = [
        .response(200, row.stored, "0123456789"), .response(206, [("Cache-Control", "max-age=10")], "server's"),
        .response(200, [], "asked"),
      ]
      world.get()
      world.wait(row.wait)
      let got = world.get(world.request(row.range.map { ("Range", $0) } + row.fields))
      if let part = row.part {
        #expect(got.body == part && got.status == row.status)
        #expect(got.headers["Content-Range"] == row.contentRange)
        #expect(got.status != 206 || got.headers.values(of: "Content-Length") == ["\(part.utf8.count)"])
        #expect(world.origin.requests.count == 1)
      } else {
        #expect(got.body == "server's" && world.origin.requests.count == 2)
        #expect(world.origin.requests.last?.values(of: "Range") == row.range, "it is passed on as it came")
      }
      if row.wait < 10, !row.stored.contains(where: { $0.0 == "Content-Encoding" }) {
        #expect(world.get().body == "0123456789", "what is stored stays whole")
      }
    }
  }
}
