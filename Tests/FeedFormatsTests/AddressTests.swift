import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct AddressTests {
  /// RFC 3986, section 5.4, against `http://a/b/c/d;p?q`.
  static let references: [(String, String?)] = [
    ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"),
    ("../../../g", "http://a/g"), ("/./g", "http://a/g"), ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/../h", "http://a/b/c/h"),
    ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("HTTPS://E.com/A B?c=é", "HTTPS://E.com/A B?c=é"), ("  http://e.com/a\n b ", "http://e.com/a b"),
    ("g:h", nil), ("mailto:a@b.c", nil), ("javascript:alert(1)", nil), ("data:image/png;base64,x", nil),
    ("http:g", nil),
    ("http://", nil), ("", nil), ("ftp://e.com/", nil), ("///g", nil),
    // Empty segments, dots that aren't a segment, and the root's parent.
    ("g//h", "http://a/b/c/g//h"), ("g//../h", "http://a/b/c/g/h"), ("/g/.../.h/..i", "http://a/g/.../.h/..i"),
    ("g/..", "http://a/b/c/"), ("/..", "http://a/"), ("/.", "http://a/"), ("../../../../.", "http://a/"),
    ("/g.h/../i", "http://a/i"),
    // Backslashes, as in browsers.
    (#"\g\h.jpg"#, "http://a/g/h.jpg"), (#"..\g"#, "http://a/b/g"), (#"\\g\h"#, "http://g/h"),
    (#"http:\\g\h"#, "http://g/h"), (#"g?h\i#j\k"#, #"http://a/b/c/g?h\i#j\k"#), (#"C:\g.jpg"#, nil),
  ]

  @Test(arguments: references) func `relative URLs are resolved as in RFC 3986, and only http and https URLs are kept`(
    reference: String, expected: String?
  ) throws {
    let text = rss("<item><media:thumbnail url=\"\(reference)\"/></item>")
    let document = try read(text, address: "http://a/b/c/d;p?q")
    #expect(document.items[0].images.first?.address == expected)
  }

  @Test func `xml:base overrides the document's URL, level by level`() throws {
    let document = try read(
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://a.com/x/"><entry xml:base="y/">
      <link href="1"/><link rel="enclosure" type="image/png" href="1.png"/>
      <content type="html" xml:base="/z/">&lt;img src="c.png"></content>
      <summary type="html">&lt;img src="s.png"></summary></entry>
      <entry><link href="2"/></entry></feed>
      """)
    #expect(document.items[0].link == "https://a.com/x/y/1")
    #expect(
      document.items[0].found == [
        "enclosure https://a.com/x/y/1.png", "content https://a.com/z/c.png", "summary https://a.com/x/y/s.png",
      ])
    #expect(document.items[1].link == "https://a.com/x/2")
  }

  @Test(arguments: [("", "https://example.org/d/c.png"), (" xml:base='/z/'", "https://example.org/z/d/c.png")])
  func `xml:base of the div around XHTML is the base of the text`(outer: String, image: String) throws {
    let div = "<div xmlns='http://www.w3.org/1999/xhtml'"
    let item = try read(
      atom(
        """
        <entry><link href="https://e.com/posts/1"/>
        <content type="xhtml"\(outer)>\(div) xml:base="d/"><p><img src="c.png"/></p></div></content>
        <summary type="xhtml">\(div)><img src="s.png"/></div></summary>
        <link rel="enclosure" type="image/png" href="1.png"/></entry>
        """)
    ).items[0]
    #expect(
      item.found == ["enclosure https://example.org/1.png", "content \(image)", "summary https://e.com/posts/s.png"])
    #expect(item.content?.value == "<p><img src=\"c.png\"/></p>")
  }

  /// Splitting the base again for each reference would take minutes.
  @Test(.timeLimit(.minutes(1)), arguments: ["/", "a/"])
  func `many references against a long base are resolved quickly`(segment: String) throws {
    let base = "http://e.com/" + String(repeating: segment, count: 2_000 / segment.utf8.count)
    let html = String(repeating: "&lt;img src=a&gt;", count: 50_000)
    let text = rss("<item xml:base='\(base)'><description>\(html)</description></item>")
    let images = try FeedParser.document(of: Array(text.utf8)).items[0].images
    #expect(images.map(\.address) == [base + "a"])
  }

  @Test func `images in texts are relative to the item's page, other images to the document`() throws {
    let item = try read(
      rss(
        """
        <item><description>&lt;img src="a.jpg"></description><link>https://e.com/posts/1/</link>
        <enclosure url="b.jpg" type="image/jpeg"/></item>
        """)
    ).items[0]
    #expect(item.found == ["enclosure https://example.org/b.jpg", "summary https://e.com/posts/1/a.jpg"])
  }

  @Test func `a guid is a link only if it is an absolute URL`() throws {
    let guids = ["1", "abc 123", "/posts/1", "https://e.com/1"]
    let items = try read(rss(guids.map { "<item><guid>\($0)</guid></item>" }.joined())).items
    #expect(items.map(\.link) == [nil, nil, nil, "https://e.com/1"])
    #expect(items.map(\.guid) == guids)
  }

  @Test func `a local file's relative URLs are resolved with its rel=self link`() throws {
    let document = try read(
      atom(
        "<entry><link href='/1'/><link rel='enclosure' href='2.png'/></entry>",
        feed: "<link rel='self' href='https://e.com/blog/feed'/><link href='https://other.com/'/>"),
      address: "file:///home/feed.xml")
    #expect(document.items[0].link == "https://e.com/1")
    #expect(document.items[0].image?.address == "https://e.com/blog/2.png")
    #expect(document.link == "https://other.com/")
  }

  @Test(arguments: ["", "rel=''", "rel='http://www.iana.org/assignments/relation/alternate'", "rel=Alternate"])
  func `a link without a relation is the item's page`(relation: String) throws {
    let document = try read(atom("<entry><link rel='self' href='/x'/><link \(relation) href='/1'/></entry>"))
    #expect(document.items[0].link == "https://example.org/1")
  }

  @Test func `without a document URL, relative URLs are resolved with the site's link`() throws {
    let text = rss("<item><enclosure url='b.jpg' type='image/jpeg'/></item>")
    #expect(try read(text, address: nil).items[0].found == ["enclosure https://example.org/b.jpg"])
  }
}
