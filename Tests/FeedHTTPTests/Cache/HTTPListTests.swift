import FeedHTTPTypes
import FeedStream
import TestSupport
import Testing

@Suite(.settled) struct HTTPListTests {
  @Test(arguments: [
    ("", []), (" a ,\tb", ["a", "b"]), (",,a,,", ["a"]), ("a=\"1, 2\", b", ["a=\"1, 2\"", "b"]),
    (#"a="\", x", b"#, [#"a="\", x""#, "b"]), ("\"open, b", ["\"open, b"]),
  ])
  func `a list is split at commas outside quotation marks`(text: String, members: [String]) {
    #expect(text.listMembers.map(String.init) == members)
  }

  @Test func `a backslash in an entity tag is a literal backslash`() {
    #expect(EntityTag.names(#""b""#, in: [#""a\", "b""#], strongly: true))
    #expect(EntityTag.names(#"W/"b""#, in: [#""b""#], strongly: false))
    #expect(!EntityTag.names(#"W/"b""#, in: [#"W/"b""#], strongly: true))
    #expect(EntityTag.names(nil, in: ["*"], strongly: true))
    #expect(!EntityTag.names(nil, in: [#""a""#], strongly: false))
  }

  @Test func `entity tags are compared byte by byte`() {
    let (composed, decomposed) = ("\"\u{E9}\"", "\"e\u{301}\"")
    #expect(EntityTag.names(composed, in: [composed], strongly: true))
    #expect(!EntityTag.names(composed, in: [decomposed], strongly: false))
    #expect(RequestedRange.isCurrent(composed, tag: composed, modified: nil))
    #expect(!RequestedRange.isCurrent(composed, tag: decomposed, modified: nil))
    #expect(!RequestedRange.isCurrent(composed, tag: nil, modified: nil))
  }

  @Test func `a received field is found despite whitespace before its colon`() {
    let headers = HTTPHeaders(lines: Chunk("A: 1\r\nContent-Type : text/xml\r\nA \t: 2\r\nAB: 3\r\nA b: 4\r\n"))
    #expect(headers["content-type"] == "text/xml")
    #expect(headers.values(of: "a") == ["1", "2"])
    #expect(headers["Content"] == nil)
  }

  @Test(arguments: [
    ("bytes=0-3", RequestedRange.part(0..<4)), ("Bytes= 2- ", .part(2..<10)), ("bytes=-4", .part(6..<10)),
    ("bytes=-99", .part(0..<10)), ("bytes=5-99", .part(5..<10)), ("bytes=10-", .none), ("bytes=-0", .none),
    ("bytes=5-4", .whole), ("bytes=0-1,4-5", .whole), ("items=0-1", .whole), ("bytes=-", .whole),
    ("bytes=99999999999999999999-", .none),
  ])
  func `a Range field with one byte range that starts within the body is a part`(field: String, range: RequestedRange) {
    #expect(RequestedRange(field, of: 10) == range)
  }
}
