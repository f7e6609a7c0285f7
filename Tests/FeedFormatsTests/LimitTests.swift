import FeedFormats
import TestSupport
import Testing

/// Every limit has its own error, and a document exactly at the limit is accepted.
@Suite(.settled) struct LimitTests {
  private func expect(
    _ error: FeedFormatError, _ text: String, _ change: (inout FeedLimits) -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var limits = FeedLimits()
    change(&limits)
    #expect(throws: error, sourceLocation: sourceLocation) { try read(text, limits: limits) }
  }

  private func expectRead(_ text: String, _ change: (inout FeedLimits) -> Void) throws {
    var limits = FeedLimits()
    change(&limits)
    #expect(try read(text, limits: limits).items.count == 1)
  }

  @Test func `a document longer than the limit is an error`() throws {
    let text = rss("<item/>")
    try expectRead(text) { $0.documentBytes = text.utf8.count }
    expect(.documentTooLong(limit: 99), text) { $0.documentBytes = 99 }
  }

  @Test func `elements may be nested up to the limit`() throws {
    let text = "<rss><channel><a><b><c></c></b></a><item/></channel></rss>"
    try expectRead(text) { $0.depth = 5 }
    expect(.tooDeep(limit: 4), text) { $0.depth = 4 }
    let bomb = "<rss>" + String(repeating: "<a>", count: 100_000)
    #expect(throws: FeedFormatError.tooDeep(limit: 256)) { try FeedParser.document(of: Array(bomb.utf8)) }
  }

  @Test func `a tag longer than the limit is an error, even if it never ends`() throws {
    let text = "<rss><channel><item a='\(String(repeating: "x", count: 100))'/></channel></rss>"
    try expectRead(text) { $0.tagBytes = 112 }
    expect(.tagTooLong(limit: 100), text) { $0.tagBytes = 100 }
    expect(.tagTooLong(limit: 100), "<rss><item a='" + String(repeating: "x", count: 2_000)) { $0.tagBytes = 100 }
  }

  @Test func `a tag may have attributes up to the limit`() throws {
    let text = "<rss><item a='1' b='2' c='3'/></rss>"
    try expectRead(text) { $0.attributes = 3 }
    expect(.tooManyAttributes(limit: 2), text) { $0.attributes = 2 }
    let many = "<rss " + (0..<100_000).map { "a\($0)=''" }.joined(separator: " ")
    #expect(throws: FeedFormatError.tooManyAttributes(limit: 256)) { try FeedParser.document(of: Array(many.utf8)) }
  }

  @Test func `element and attribute names longer than the limit are an error`() throws {
    try expectRead("<rss><abcdefgh/><item/></rss>") { $0.nameBytes = 16 }
    expect(.nameTooLong(limit: 8), "<rss><abcdefghijkl/><item/></rss>") { $0.nameBytes = 8 }
    expect(.nameTooLong(limit: 8), "<rss><a abcdefghijkl=''/><item/></rss>") { $0.nameBytes = 8 }
    expect(.nameTooLong(limit: 8), "<rss></abcdefghijkl><item/></rss>") { $0.nameBytes = 8 }
  }

  @Test func `a document type longer than the limit is an error`() throws {
    let text = "<!DOCTYPE rss [\(String(repeating: "<!-- ]> ' -->", count: 50))]><rss><item/></rss>"
    try expectRead(text) { _ in }
    expect(.doctypeTooLong(limit: 100), text) { $0.doctypeBytes = 100 }
  }

  @Test func `text, CDATA and entities longer than the limit are an error`() throws {
    for title in ["1234567890", "<![CDATA[1234567890]]>", "&amp;&amp;&amp;&amp;&amp;&amp;&amp;&amp;&amp;&amp;"] {
      try expectRead("<rss><item><title>\(title)</title></item></rss>") { $0.textBytes = 10 }
      expect(.textTooLong(limit: 9), "<rss><item><title>\(title)</title></item></rss>") { $0.textBytes = 9 }
    }
    let markup = "<rss><item><description><b></b><b></b></description></item></rss>"
    try expectRead(markup) { $0.textBytes = 14 }
    for limit in [9, 13] { expect(.textTooLong(limit: limit), markup) { $0.textBytes = limit } }
    for name in ["title", "summary", "content_html", "content_text"] {
      try expectRead(jsonFeed(#"{"id": "1", "\#(name)": "1234567890"}"#)) { $0.textBytes = 10 }
      expect(.textTooLong(limit: 9), jsonFeed(#"{"id": "1", "\#(name)": "1234567890"}"#)) { $0.textBytes = 9 }
    }
    try expectRead(jsonFeed(#"{"id": "1234567890"}"#)) { $0.textBytes = 10 }
    expect(.textTooLong(limit: 9), jsonFeed(#"{"id": "1234567890"}"#)) { $0.textBytes = 9 }
    for member in [
      #""description": "1234567890""#, #""guid": "1234567890""#,
      #""enclosure": {"url": "https://e.com/1", "type": "image/jpeg"}"#,
    ] {
      try expectRead(#"{"rss": {"channel": {"item": {\#(member)}}}}"#) { $0.textBytes = 10 }
      expect(.textTooLong(limit: 9), #"{"rss": {"channel": {"item": {\#(member)}}}}"#) { $0.textBytes = 9 }
    }
    expect(.textTooLong(limit: 99), "<rss><item><title><![CDATA[" + String(repeating: "x", count: 400)) {
      $0.textBytes = 99
    }
  }

  @Test func `a feed may have items up to the limit`() throws {
    let text = "<rss><item/><item/><item/></rss>"
    expect(.tooManyItems(limit: 2), text) { $0.items = 2 }
    expect(.tooManyItems(limit: 1), jsonFeed(#"{"id": "1"}, {"id": "2"}"#)) { $0.items = 1 }
  }

  @Test func `relative URLs that a long base expands count toward the limit`() throws {
    let base = "https://e.com/" + String(repeating: "a", count: 1_000) + "/"
    let items = String(repeating: "<item><media:thumbnail url='1'/></item>", count: 3)
    let text = "<rss xml:base='\(base)'>\(items)</rss>"
    expect(.addressesTooLong(limit: 2_500), text) { $0.addressBytes = 2_500 }
    let longer = text.replacing("aaa/", with: String(repeating: "b", count: 2_000) + "/")
    #expect(try read(longer).items[0].image?.address == "https://example.org/1")
  }

  @Test func `relative URLs in JSON, and the links of items, count toward the limit, too`() throws {
    let long = "https://e.com/" + String(repeating: "a", count: 1_000) + "/"
    let images = (0..<3).map { "<img src=\($0)>" }.joined()
    expect(.addressesTooLong(limit: 2_500), jsonFeed(#"{"id": "1", "url": "\#(long)", "content_html": "\#(images)"}"#))
    {
      $0.addressBytes = 2_500
    }
    var limits = FeedLimits()
    limits.addressBytes = 2_500
    let items = String(repeating: "<item><link>a</link></item>", count: 3)
    #expect(throws: FeedFormatError.addressesTooLong(limit: 2_500)) {
      try read(rss(items), address: long, limits: limits)
    }
  }

  @Test func `relative URLs aren't resolved against a URL longer than 2 KiB, but its query doesn't count`() throws {
    let long = "https://e.com/" + String(repeating: "a", count: 3_000) + "/"
    let item = #"{"id": "1", "url": "\#(long)", "content_html": "<img src=1>"}"#
    #expect(
      try read(jsonFeed(item), address: "https://e.com/feed").items[0].images.map(\.address) == ["https://e.com/1"])
    let link = "<item><link>a</link></item>"
    #expect(try read(rss(link), address: long).items[0].link == "https://example.org/a", "the site's")
    let query = "https://e.com/feed?" + String(repeating: "a", count: 3_000)
    #expect(try read(rss(link), address: query).items[0].link == "https://e.com/a")
  }

  @Test func `more JSON values than the limit are an error`() throws {
    expect(.tooManyValues(limit: 10), jsonFeed((0..<9).map { #"{"id": "\#($0)"}"# }.joined(separator: ","))) {
      $0.values = 10
    }
  }

  @Test func `entities that a document declares are never resolved`() throws {
    let text = """
      <!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
      <rss><channel><item><title>&b;&f;&lt;</title></item></channel></rss>
      """
    #expect(try read(text).items[0].title?.value == "&b;&f;<")
  }

  @Test func `a feed may begin up to the limit, even if the limit is within a character`() {
    let before = String(repeating: "x", count: (64 << 10) - 1) + "é" + String(repeating: "x", count: 5_000)
    #expect(throws: FeedFormatError.notAFeed) { try read(before + rss("<item/>")) }
  }

  @Test func `parsing a document that isn't a feed stops in its first kilobytes`() {
    let page = "<!DOCTYPE html><html><head><title>Log in</title></head>"
    #expect(throws: FeedFormatError.webPage) { try read(page) }
    #expect(throws: FeedFormatError.webPage) { try read("<!doctype html><title>x</title>") }
    #expect(throws: FeedFormatError.empty) { try read("") }
    #expect(throws: FeedFormatError.notAFeed) { try read("  ") }
    #expect(throws: FeedFormatError.notAFeed) { try read("GIF89a") }
    #expect(throws: FeedFormatError.listOfFeeds) { try read("<opml><body><outline/></body></opml>") }
    // The second byte isn't valid UTF-8, so up to 64 KiB more is held until the encoding is chosen.
    for byte in [UInt8(ascii: "x"), 0xE9] {
      var parser = FeedParser()
      #expect(throws: FeedFormatError.notAFeed) {
        for _ in 0..<200 { try parser.feed([UInt8](repeating: byte, count: 1024)) }
      }
    }
  }
}
