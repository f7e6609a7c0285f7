import FeedFormats
import TestSupport
import Testing

/// Malformed documents like those of real feeds: each has two items with an image, and both images must be read with
/// unchanged URLs.
@Suite(.settled) struct MalformedTests {
  static let images = ["https://e.com/1.jpg", "https://e.com/2.jpg"]

  private func item(_ number: Int, title: String? = nil, extra: String = "", address: String? = nil) -> String {
    """
    <item><title>\(title ?? "Item \(number)")</title><link>https://e.com/\(number)</link>\(extra)\
    <enclosure url="\(address ?? "https://e.com/\(number).jpg")" type="image/jpeg" length="1"/></item>

    """
  }

  private var both: String { item(1) + item(2) }

  private func feed(_ items: String, before: String = "<?xml version=\"1.0\"?>", after: String = "") -> String {
    "\(before)<rss version=\"2.0\"><channel><title>T</title><link>https://e.com/</link>\n\(items)</channel></rss>\(after)"
  }

  @discardableResult
  private func expectBoth(
    _ text: String, images: [String] = images, titles: [String] = ["Item 1", "Item 2"],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> FeedDocument {
    try expectBoth(bytes: Array(text.utf8), images: images, titles: titles, sourceLocation: sourceLocation)
  }

  @discardableResult
  private func expectBoth(
    bytes: [UInt8], charset: String? = nil, images: [String] = images, titles: [String] = ["Item 1", "Item 2"],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> FeedDocument {
    let document = try read(bytes: bytes, charset: charset)
    #expect(document.items.map { $0.image?.address } == images, sourceLocation: sourceLocation)
    #expect(document.items.map { $0.title?.plain } == titles, sourceLocation: sourceLocation)
    #expect(
      document.items.map(\.link) == ["https://e.com/1", "https://e.com/2"], sourceLocation: sourceLocation)
    return document
  }

  @Test func `an undeclared namespace prefix is read`() throws {
    let media = "<media:content url=\"https://e.com/m.jpg\" medium=\"image\"/>"
    let document = try expectBoth(
      feed(item(1, extra: media) + item(2)), images: ["https://e.com/m.jpg", "https://e.com/2.jpg"])
    #expect(document.repairs == ["a namespace prefix is not declared"])
  }

  @Test func `line breaks before the XML declaration are skipped`() throws {
    try expectBoth("\n\n" + feed(both))
  }

  @Test func `content after the root element is ignored`() throws {
    try expectBoth(feed(both, after: "\n<!-- 0.2 s --><script>track()</script> trailing & junk <"))
  }

  @Test(arguments: ["<br>", "<img src='https://e.com/count'>", "<p>Generated in <b>1</b> s", "<image>", "<p><link>"])
  func `an unclosed element after a feed doesn't make it cut off, and one in a feed does`(element: String) throws {
    #expect(try !expectBoth(feed(both, after: element)).isCutOff)
    #expect(try !expectBoth("<p>" + feed(both, after: element)).isCutOff)
    #expect(try expectBoth(feed(both).replacing("</rss>", with: element)).isCutOff)
    let entries = "<entry><title>One</title></entry>"
    #expect(try !read(atom(entries) + element).isCutOff)
    #expect(try read(atom(entries).replacing("</feed>", with: element)).isCutOff)
  }

  @Test func `control characters in text are replaced by spaces`() throws {
    try expectBoth(
      feed(item(1, title: "It\u{0B}em\u{1B} 1") + item(2)), titles: ["It em 1", "Item 2"])
  }

  @Test func `attributes without quotes are read`() throws {
    let first =
      "<item><title>Item 1</title><link>https://e.com/1</link>"
      + "<enclosure type=image/jpeg url=https://e.com/1.jpg/></item>"
    let document = try expectBoth(feed(first + item(2)))
    #expect(document.repairs == ["an attribute has no quotes, or appears twice"])
  }

  @Test func `a missing quotation mark loses no item`() throws {
    let first =
      "<item><title>Item 1</title><link>https://e.com/1</link>"
      + "<enclosure type=\"image/jpeg\" url=\"https://e.com/1.jpg/></item>\n"
    try expectBoth(feed(first + item(2)))
    try expectBoth(feed(first + item(2)).replacing("1.0\"?>", with: "1.0?>"))
  }

  @Test func `of an attribute given twice, the first is used`() throws {
    let first =
      "<item><title>Item 1</title><link>https://e.com/1</link>"
      + "<enclosure url=\"https://e.com/1.jpg\" url=\"https://e.com/x.jpg\" type=\"image/jpeg\"/></item>"
    try expectBoth(feed(first + item(2)))
  }

  @Test func `two hyphens in a comment are allowed`() throws {
    try expectBoth(feed("<!-- a -- b --- c -->" + item(1) + "<!---->" + item(2)))
  }

  @Test func `unclosed HTML in a description loses no item`() throws {
    let html = "<description><p>One<br>two <b>three <img src=\"x.gif\"> <li>four<li>five</description>"
    try expectBoth(feed(item(1, extra: html) + item(2, extra: html)))
  }

  @Test(arguments: [true, false]) func `UTF-16 with a byte order mark is read`(isBigEndian: Bool) throws {
    let units = ("\u{FEFF}" + feed(both)).utf16
    let bytes = units.flatMap { unit in
      let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
      return isBigEndian ? pair : pair.reversed()
    }
    #expect(try expectBoth(bytes: bytes).encoding == "UTF-16")
  }

  @Test func `XML 1.1 is read`() throws {
    try expectBoth(feed(both, before: "<?xml version=\"1.1\"?>"))
  }

  @Test func `a bare ampersand in a URL is kept`() throws {
    let document = try expectBoth(
      feed(item(1, address: "https://e.com/1.jpg?a=1&b=2&copy=3&lt=4") + item(2)),
      images: ["https://e.com/1.jpg?a=1&b=2&copy=3&lt=4", "https://e.com/2.jpg"])
    #expect(document.repairs == ["an & that doesn't begin an entity was kept as text"])
  }

  @Test func `a bare ampersand in text is kept`() throws {
    try expectBoth(feed(item(1, title: "A & B &c; AT&T") + item(2)), titles: ["A & B &c; AT&T", "Item 2"])
  }

  @Test func `HTML entities are read with and without a document type`() throws {
    let items = item(1, title: "caf&eacute;&nbsp;1") + item(2)
    let doctype =
      "<?xml version=\"1.0\"?><!DOCTYPE rss PUBLIC \"-//N//D\" \"http://e.com/r.dtd\" [<!ENTITY eacute \"X\">]>"
    for before in ["<?xml version=\"1.0\"?>", doctype] {
      try expectBoth(feed(items, before: before), titles: ["café 1", "Item 2"])
    }
  }

  @Test func `a URL that is truncated with its document is dropped`() throws {
    let whole = feed(both)
    let cut = whole[..<whole.range(of: "https://e.com/2.jp")!.upperBound]
    let document = try read(String(cut))
    #expect(document.items.map { $0.image?.address } == ["https://e.com/1.jpg", nil])
    #expect(document.items.map(\.link) == ["https://e.com/1", "https://e.com/2"])
    #expect(document.repairs == ["the document is cut off"])
    let link = try read(String(whole[..<whole.range(of: "<link>https://e.com/2")!.upperBound]))
    #expect(link.items.map(\.link) == ["https://e.com/1", nil])
  }

  @Test func `bytes that aren't valid UTF-8 are read as windows-1252`() throws {
    let bytes = feed(both).utf8.flatMap { $0 == UInt8(ascii: "T") ? [0x54, 0xE9, 0xFF] : [$0] }
    let document = try expectBoth(bytes: bytes)
    #expect(document.title?.plain == "Téÿ")
    #expect(document.encoding == "windows-1252")
  }

  @Test func `windows-1252 declared as UTF-8 is read as windows-1252`() throws {
    let text = feed(item(1, title: "It\u{7E}s 1") + item(2), before: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")
    let bytes = text.utf8.map { $0 == 0x7E ? 0x92 : $0 }
    try expectBoth(bytes: bytes, titles: ["It’s 1", "Item 2"])
  }

  @Test func `an unclosed CDATA section ends with its element`() throws {
    let open = "<description><![CDATA[Some <b>text</description>"
    let document = try expectBoth(feed(item(1, extra: open) + item(2)))
    #expect(document.items[0].summary?.value == "Some <b>text")
    try expectBoth(feed(item(1, extra: open) + item(2, extra: "<description><![CDATA[Other]]></description>")))
  }

  @Test(arguments: ["dc:creator", "category", "author", "unknown"])
  func `an unclosed CDATA section ends with its element, even if its text isn't needed`(name: String) throws {
    let open = "<\(name)><![CDATA[Ann</\(name)>"
    for other in ["", "<description><![CDATA[Other]]></description>"] {
      #expect(try !expectBoth(feed(item(1, extra: open) + item(2, extra: other))).isCutOff)
    }
  }

  @Test(arguments: ["", "<description><![CDATA[Other]]></description>"])
  func `an unclosed CDATA section in an item's image doesn't hide the image's URL`(other: String) throws {
    let image = "<image><title><![CDATA[A</title><url>https://e.com/1.jpg</url></image>"
    let document = try read(feed("<item>\(image)\(other)</item>"))
    #expect(document.items.map { $0.image?.address } == ["https://e.com/1.jpg"] && !document.isCutOff)
  }

  @Test(arguments: ["titel", "title2", "Titles"]) func `an end tag with a wrong name closes its element`(name: String)
    throws
  {
    let first =
      "<item><title>Item 1</\(name)><link>https://e.com/1</link>"
      + "<enclosure url=\"https://e.com/1.jpg\" type=\"image/jpeg\"/></item>"
    try expectBoth(feed(first + item(2)))
  }

  @Test func `a start tag with a wrong name, or without its end, loses no item`() throws {
    for opening in ["<gid>1</guid>", "<decription>x</description>", "<description>x</de<scription>"] {
      try expectBoth(feed(item(1, extra: opening) + item(2)))
    }
    let first =
      "<item><title>Item 1</title><link>https://e.com/1</link>"
      + "<enclosure type=\"image/jpeg\" url=\"https://e.com/1.jpg\" /\n</item>"
    try expectBoth(feed(first + item(2)))
  }

  @Test(arguments: [
    "<enclosure url='https://e.com/1.jpg' type='image/jpeg'>", "<media:content url='https://e.com/1.jpg'>",
    "<media:thumbnail url='https://e.com/1.jpg'>", "<itunes:image href='https://e.com/1.jpg'>",
    "<media:group><media:content url='https://e.com/1.jpg'>",
  ])
  func `an unclosed element that only has attributes is closed`(element: String) throws {
    let first = "<item>\(element)<title>Item 1</title><link>https://e.com/1</link></item>"
    let document = try expectBoth(feed(first + item(2)))
    #expect(document.repairs.contains("an element was not closed"))
    let entry = "<link href='https://e.com/1'><title>Item 1</title>\(element)</entry>"
    let atom = try read(atom("<entry>" + entry, feed: "<link href='https://e.com/'><subtitle>x</subtitle>"))
    #expect(atom.link == "https://e.com/" && atom.items.map { $0.title?.value } == ["Item 1"])
    #expect(atom.items[0].link == "https://e.com/1")
  }

  @Test func `end tags in the wrong order or missing lose no item`() throws {
    let first =
      "<item><title>Item 1<link>https://e.com/1</title></link>"
      + "<enclosure url=\"https://e.com/1.jpg\" type=\"image/jpeg\">"
    try expectBoth(feed(first + item(2)))
  }

  @Test func `UTF-8 declared as UTF-16 is read as UTF-8`() throws {
    #expect(try expectBoth(feed(both, before: "<?xml version=\"1.0\" encoding=\"UTF-16\"?>")).encoding == "UTF-8")
  }

  @Test func `half a surrogate pair in a character reference is replaced`() throws {
    try expectBoth(feed(item(1, title: "Item&#xD800; 1") + item(2)), titles: ["Item\u{FFFD} 1", "Item 2"])
  }

  @Test func `a PHP warning before the feed is skipped`() throws {
    let warning = "<br />\n<b>Warning</b>:  Cannot modify header in <b>/w/x.php</b> on line <b>3</b><br>\n"
    let document = try expectBoth(warning + feed(item(1, extra: "<description>x</b></description>") + item(2)))
    #expect(document.repairs.contains("text before the feed was skipped"))
    try expectBoth("Warning: 1 < 2 & so on in x.php\n" + feed(both))
  }

  @Test(arguments: [
    "<?a b> c ?>", "<?a b>", "<?a\n?>", "<?a>?>", "<?a?b?>", "<?a \(String(repeating: "b", count: 2000))?>",
  ])
  func `a processing instruction ends correctly however its bytes are split`(instruction: String) throws {
    let filler = "<!-- \(String(repeating: "x", count: 1100)) -->"
    let document = try expectBoth(feed(filler + item(1, title: "It\(instruction)em 1") + item(2)))
    #expect(document.title?.value == "T")
  }

  @Test func `an unknown declared encoding is ignored`() throws {
    try expectBoth(feed(both, before: "<?xml version=\"1.0\" encoding=\"utf8mb4-klingon\"?>"))
  }

  @Test func `a bare less-than sign in text is kept`() throws {
    let document = try expectBoth(
      feed(item(1, title: "1 < 2 and a <3 b") + item(2)), titles: ["1 < 2 and a <3 b", "Item 2"])
    #expect(document.repairs == ["a < that doesn't begin a tag was kept as text"])
  }

  @Test(arguments: ["", ", n = 3 and m=''"])
  func `a bare less-than sign before hundreds of words is kept`(beginning: String) throws {
    let words = "if x <y" + beginning + String(repeating: " word", count: 300)
    let document = try expectBoth(feed(item(1, extra: "<description>\(words)</description>") + item(2)))
    #expect(document.items[0].summary?.value == words)
    #expect(document.repairs == ["a < that doesn't begin a tag was kept as text"])
  }

  @Test func `zero bytes are dropped`() throws {
    var bytes = Array(feed(both).utf8)
    for place in [40, 90, 150] { bytes.insert(0, at: place) }
    let document = try expectBoth(bytes: bytes)
    #expect(document.repairs == ["NUL bytes were dropped"])
  }

  @Test func `items without a root element are read`() throws {
    let document = try expectBoth(both)
    #expect(document.repairs == ["the root element is missing"])
    try expectBoth("<channel><title>T</title>\(both)</channel>")
  }
}
