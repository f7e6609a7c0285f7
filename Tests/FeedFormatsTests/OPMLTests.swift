import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct OPMLTests {
  private func list(_ text: String, limits: FeedLimits = FeedLimits()) throws -> OPML {
    try OPML(parsing: Array(text.utf8), limits: limits)
  }

  private func opml(_ body: String) -> String {
    "<?xml version=\"1.0\"?><opml version=\"2.0\"><head><title>Mine</title></head><body>\(body)</body></opml>"
  }

  private let a = "<outline text=\"A\" type=\"rss\" xmlUrl=\"https://a.example/feed\"/>"
  private let b = "<outline text='B' xmlUrl='http://b.example/?x=1&amp;y=2'/>"

  @Test func `a truncated OPML list is marked as cut off`() throws {
    let text =
      "<opml version=\"2.0\"><head><title>L</title></head><body><outline xmlUrl=\"https://a/1\"/></body></opml>"
    #expect(try !OPML(parsing: Array(text.utf8)).isCutOff)
    #expect(try !OPML(parsing: Array((text + "\n<!-- ").utf8)).isCutOff)
    for count in 20..<(text.utf8.count - 1) {
      #expect(try OPML(parsing: Array(text.utf8.prefix(count))).isCutOff, "\(text.prefix(count))")
    }
  }

  @Test func `an OPML list's feeds are read in order, with their folders`() throws {
    let list = try list(
      opml("<outline text=\"Photos\"><outline text=\"Sea &amp; sky\">\(a)</outline>\(b)</outline><outline text='x'/>"))
    #expect(list.title == "Mine")
    #expect(list.feeds.map(\.address) == ["https://a.example/feed", "http://b.example/?x=1&y=2"])
    #expect(list.feeds.map(\.folders) == [["Photos", "Sea & sky"], ["Photos"]])
    #expect(list.feeds.map(\.outline.name) == ["A", "B"])
  }

  @Test func `a written OPML list parses to the same list`() throws {
    let feed = OPML.Outline(
      text: "A \"b\" <c> & d\n", title: "T", address: "https://a.example/?a=1&b=2", page: "https://a.example/",
      attributes: [.init("type", "rss"), .init("feed:interval", "15m"), .init("category", "/x")])
    let list = OPML(
      title: "My <list>", namespaces: [.init("feed", "https://feedstream.example/opml")],
      outlines: [OPML.Outline(text: "Folder", outlines: [feed]), feed])
    #expect(try self.list(list.document) == list)
  }

  @Test func `control characters in titles are removed or escaped when a list is written`() throws {
    let title = "A\u{9B}31mB\u{202E}C\u{2066}\u{2028}\u{200D}\u{7F}é"
    let list = OPML(outlines: [OPML.Outline(text: title, title: title, address: "https://a.example/")])
    let document = list.document
    #expect(document.contains("text=\"A31mB&#x202E;C&#x2066;&#x2028;&#x200D;é\""))
    #expect(!document.unicodeScalars.contains { $0 != "\n" && ($0 < " " || ("\u{7F}"..."\u{9F}").contains($0)) })
    let read = try #require(try self.list(document).feeds.first?.outline.text)
    #expect(read == "A31mB\u{202E}C\u{2066}\u{2028}\u{200D}é", "\(read.unicodeScalars.map(\.value))")
  }

  @Test func `an attribute whose name isn't a name in XML is left out`() throws {
    let attributes = "x\u{9B}31my='1' \u{202E}z='2' \u{E9}='3' a\u{61C}='4' \u{D7}='5' xmlns:p\u{85}='urn:p'"
    let list = try list(opml("<outline text='A' xmlUrl='https://a.example/' \(attributes)/>"))
    #expect(list.outlines[0].attributes == [.init("\u{E9}", "3")] && list.namespaces == [])
    #expect(!list.document.unicodeScalars.contains { ("\u{7F}"..."\u{9F}").contains($0) || $0 == "\u{202E}" })
  }

  @Test func `an attribute with an undeclared prefix isn't written`() throws {
    let outline = OPML.Outline(text: "A", attributes: [.init("x:y", "1")])
    #expect(!OPML(outlines: [outline]).document.contains("x:y"))
  }

  @Test func `attributes whose prefix is declared anywhere in a list are kept`() throws {
    let text = """
      <opml version='2.0' xmlns:a='urn:a'><body>
      <outline text='F' xmlns:b='urn:b'><outline text='1' xmlUrl='https://a.example/' a:x='1' b:x='2' c:x='3' xmlns:c='urn:c'/></outline>
      <outline text='2' xmlUrl='https://b.example/' xmlns:a='urn:other' a:x='4'/>
      </body></opml>
      """
    let again = try list(list(text).document)
    #expect(try list(again.document) == again)
    #expect(again.namespaces.map(\.name) == ["a", "b", "c"])
    #expect(again.feeds.map { $0.outline[attribute: "a:x"] } == ["1", "4"])
    #expect(again.feeds[0].outline[attribute: "b:x"] == "2" && again.feeds[0].outline[attribute: "c:x"] == "3")
    #expect(again.feeds[1].outline[attribute: "xmlns:a"] == "urn:other")
  }

  @Test func `a declaration that restores an outer meaning is kept`() throws {
    let text = """
      <opml version='2.0' xmlns:x='urn:1'><body><outline text='F' xmlns:x='urn:2'>
      <outline text='1' xmlUrl='https://a.example/' xmlns:x='urn:1' x:y='1'/>
      <outline text='2' xmlUrl='https://b.example/' x:y='2'/></outline></body></opml>
      """
    let list = try list(self.list(text).document)
    #expect(try self.list(list.document) == list)
    #expect(list.feeds.map { $0.outline[attribute: "xmlns:x"] } == ["urn:1", "urn:2"])
  }

  @Test func `only valid prefixes are declared, and xml needs no declaration`() throws {
    let text = """
      <opml version='2.0' xmlns:1='a' xmlns:xmlns='b' xmlns:a:b='c' xmlns:good='d'><body>
      <outline text='1' xmlUrl='https://a.example/' xml:lang='de' good:x='1' a:b:c='2' xmlns:xml='e' xmlns:c"='f'/>
      </body></opml>
      """
    let list = try list(text)
    #expect(list.namespaces == [.init("good", "d")])
    #expect(list.outlines.map(\.attributes) == [[.init("xml:lang", "de"), .init("good:x", "1")]])
    #expect(list.document.contains("xml:lang=\"de\""))
  }

  @Test func `many prefixes are read in linear time, and only the first 200 are kept`() throws {
    let outlines = (0..<400).map { outline in
      "<outline \((0..<200).map { "xmlns:p\(outline)-\($0)='u'" }.joined(separator: " "))/>"
    }
    let list = try list(opml(outlines.joined()))
    #expect(list.namespaces.map(\.name) == (0..<200).map { "p0-\($0)" })
    #expect(list.outlines.count == 400 && list.outlines.allSatisfy(\.attributes.isEmpty))
    let again = try self.list(list.document)
    #expect(again.namespaces == list.namespaces && again.outlines.count == 400)
  }

  @Test func `duplicate URLs are read once, and only http and https URLs count`() throws {
    let list = try list(
      opml(
        a + a + "<outline text='f' xmlUrl='feed://c.example/x'/><outline xmlUrl='feed:https://d.example/'/>"
          + "<outline text='no' xmlUrl='file:///etc/passwd'/><outline text='no' xmlUrl='/relative'/>"))
    #expect(
      list.feeds.map(\.address) == ["https://a.example/feed", "http://c.example/x", "https://d.example/"])
    #expect(list.unusableFeeds.count == 2)
  }

  private static let malformed: [(name: String, body: String)] = [
    (
      "outlines that nothing closes",
      "<outline text=A xmlUrl=https://a.example/feed><outline text=B xmlUrl='http://b.example/?x=1&y=2'>"
    ),
    (
      "a folder that nothing closes",
      "<outline text=F><outline xmlUrl='https://a.example/feed'></outline><outline xmlUrl='http://b.example/?x=1&y=2'/>"
    ),
    (
      "bare ampersands, and names in any case",
      "<OUTLINE XMLURL=\"https://a.example/feed\"/><Outline xmlurl=\"http://b.example/?x=1&y=2\"/>"
    ),
    (
      "url instead of xmlUrl",
      "<outline type='rss' url='https://a.example/feed'/><outline type='atom' url='http://b.example/?x=1&amp;y=2'/>"
    ),
    (
      "end tags that close nothing",
      "</outline></outline><outline xmlUrl='https://a.example/feed'/></outline>"
        + "<outline xmlUrl='http://b.example/?x=1&amp;y=2'/></outline>"
    ),
    (
      "white space around addresses",
      "<outline xmlUrl=' https://a.example/feed\n'/><outline xmlUrl='http://b.example/?x=1&amp;y=2 '/>"
    ),
  ]

  @Test(arguments: malformed.indices)
  func `the feeds of malformed lists are read`(row: Int) throws {
    let (name, body) = Self.malformed[row]
    for text in [opml(body), "<opml><body>\(body)", "junk \u{0} <!-- x --><opml><head><title>t\(body)", body] {
      #expect(
        try list(text).feeds.map(\.address) == ["https://a.example/feed", "http://b.example/?x=1&y=2"],
        "\(name): \(text)")
    }
  }

  @Test func `unclosed outlines of feeds aren't nested`() throws {
    let open = (0..<1000).map { "<outline text='\($0)' xmlUrl='https://a.example/\($0)'>" }.joined()
    let list = try list(opml(open))
    #expect(list.feeds.count == 1000)
    #expect(list.outlines.count == 1000)
  }

  @Test func `the encoding of a list is detected as in feeds`() throws {
    let text = "<?xml version='1.0' encoding='ISO-8859-1'?><opml><body><outline text='Z\u{FC}rich' xmlUrl='http://a/'/>"
    let latin = text.unicodeScalars.map { UInt8($0.value) }
    #expect(try OPML(parsing: latin).feeds.map(\.outline.name) == ["Zürich"])
    #expect(try OPML(parsing: [0xEF, 0xBB, 0xBF] + Array(text.utf8)).feeds.map(\.outline.name) == ["Zürich"])
  }

  @Test(arguments: ["", " encoding=\"ISO-8859-1\""], [false, true])
  func `a long list is recognized after a comment that isn't ASCII`(encoding: String, isUTF8: Bool) throws {
    func bytes(_ text: String) -> [UInt8] {
      let text = text.replacing("?>", with: "\(encoding)?><!-- Généré -->")
      return isUTF8 ? Array(text.utf8) : text.unicodeScalars.map { UInt8($0.value) }
    }
    let list = opml(String(repeating: a, count: 2_000))
    #expect(try OPML(parsing: bytes(list)).outlines.count == 2_000)
    let other = list.replacing("opml", with: "list").replacing("outline", with: "line")
    #expect(throws: FeedFormatError.notAFeed) { try OPML(parsing: bytes(other)) }
  }

  @Test(arguments: ["", "<title><![CDATA[Mine]]></title>"])
  func `an unclosed CDATA section in a list's head ends with its element`(title: String) throws {
    let text = "<opml><head><ownerName><![CDATA[Ann</ownerName>\(title)</head><body>\(a)</body></opml>"
    let list = try list(text)
    #expect(list.feeds.count == 1 && !list.isCutOff && list.title == (title.isEmpty ? nil : "Mine"))
  }

  @Test func `a title without a visible character isn't the title of a list`() throws {
    #expect(try list(opml(a).replacing("Mine", with: "&#8203;")).title == nil)
  }

  @Test func `an outline without a visible character in its text is named by its title`() throws {
    #expect(OPML.Outline(text: "\u{200B} \u{AD}", title: "A").name == "A")
    #expect(OPML.Outline(text: "\u{FEFF}", title: "\u{2060}").name == nil)
  }

  @Test func `entities declared in a list are never resolved`() throws {
    let bomb =
      "<!DOCTYPE opml [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
      + "<opml><body><outline text='&a;' xmlUrl='http://a/'/></body></opml>"
    #expect(try list(bomb).feeds.map(\.outline.name) == ["&a;"])
  }

  @Test func `a document that isn't a list, or exceeds a limit, is an error`() throws {
    #expect(throws: FeedFormatError.empty) { try list("") }
    #expect(throws: FeedFormatError.notAFeed) { try list(rss("<item/>")) }
    #expect(throws: FeedFormatError.notAFeed) { try list("{\"a\": 1}") }
    #expect(throws: FeedFormatError.notAFeed) { try list(String(repeating: "x", count: 70_000) + opml(a)) }
    var limits = FeedLimits()
    limits.items = 2
    #expect(throws: FeedFormatError.tooManyItems(limit: 2)) { try list(opml(a + a + a), limits: limits) }
    limits.documentBytes = 10
    #expect(throws: FeedFormatError.documentTooLong(limit: 10)) { try list(opml(a), limits: limits) }
    let folders = String(repeating: "<outline text='f'>", count: 300)
    #expect(throws: FeedFormatError.tooDeep(limit: 256)) { try list(opml(folders)) }
  }
}
