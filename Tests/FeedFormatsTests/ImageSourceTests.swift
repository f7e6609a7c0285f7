import FeedFormats
import TestSupport
import Testing

/// Every format with each of its image sources.
@Suite(.settled) struct ImageSourceTests {
  private func only(_ document: FeedDocument) throws -> FeedItem {
    try #require(document.items.count == 1)
    return document.items[0]
  }

  private func expect(
    _ text: String, _ found: [String], chosen: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let item = try only(try read(text))
    #expect(item.found == found, sourceLocation: sourceLocation)
    #expect(item.image?.address == chosen, sourceLocation: sourceLocation)
  }

  static let elements: [(String, String)] = [
    ("media:content", #"<media:content url="https://e.com/1.jpg" type="image/jpeg"/>"#),
    ("media:content", #"<media:content url="https://e.com/1.jpg" medium="image"/>"#),
    ("media:content", #"<media:content url="https://e.com/1.jpg"/>"#),
    ("media:content", #"<media:group><media:content url="https://e.com/1.jpg" medium="image"/></media:group>"#),
    ("media:thumbnail", #"<media:thumbnail url="https://e.com/1.jpg"/>"#),
    ("media:thumbnail", #"<media:group><media:thumbnail url="https://e.com/1.jpg"/></media:group>"#),
    (
      "media:thumbnail",
      #"<media:content url="https://e.com/1.mp4" type="video/mp4"><media:thumbnail url="https://e.com/1.jpg"/></media:content>"#
    ),
  ]

  @Test(arguments: elements) func `Media RSS images are found in RSS and Atom`(source: String, element: String) throws {
    let found = ["\(source) https://e.com/1.jpg"]
    try expect(rss("<item>\(element)</item>"), found, chosen: "https://e.com/1.jpg")
    try expect(atom("<entry>\(element)</entry>"), found, chosen: "https://e.com/1.jpg")
  }

  @Test(arguments: ["video/mp4", "audio/mpeg"]) func `media that aren't images are ignored`(type: String) throws {
    try expect(rss("<item><media:content url='https://e.com/1.jpg' type='\(type)'/></item>"), [], chosen: nil)
    try expect(rss("<item><media:content url='https://e.com/1.jpg' medium='video'/></item>"), [], chosen: nil)
    try expect(rss("<item><media:content url='https://e.com/1'/></item>"), [], chosen: nil)
    try expect(rss("<item><enclosure url='https://e.com/1.mp3' type='\(type)'/></item>"), [], chosen: nil)
  }

  @Test func `enclosures in RSS and Atom and attachments in JSON Feed are images`() throws {
    let found = ["enclosure https://e.com/1.jpg"]
    try expect(
      rss("<item><enclosure url='https://e.com/1.jpg' type='image/jpeg' length='1'/></item>"), found,
      chosen: "https://e.com/1.jpg")
    try expect(
      atom("<entry><link rel='enclosure' type='image/jpeg' href='https://e.com/1.jpg'/></entry>"), found,
      chosen: "https://e.com/1.jpg")
    try expect(
      jsonFeed(#"{"id": "1", "attachments": [{"url": "https://e.com/1.jpg", "mime_type": "image/jpeg"}]}"#), found,
      chosen: "https://e.com/1.jpg")
  }

  @Test func `image is read in JSON Feed, Essential Feed JSON and RSS items`() throws {
    let found = ["image https://e.com/1.jpg"]
    try expect(jsonFeed(#"{"id": "1", "image": "https://e.com/1.jpg"}"#), found, chosen: "https://e.com/1.jpg")
    try expect(
      #"{"items": [{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "image": "https://e.com/1.jpg"}]}"#, found,
      chosen: "https://e.com/1.jpg")
    for image in [
      "<image>https://e.com/1.jpg</image>", "<image><title>No</title>\n<url>https://e.com/1.jpg</url></image>",
      "<image href='https://e.com/1.jpg'/>", "<image rdf:resource='https://e.com/1.jpg'/>",
    ] {
      try expect(rss("<item>\(image)</item>"), found, chosen: "https://e.com/1.jpg")
    }
  }

  @Test func `banner_image in JSON Feed and itunes:image in podcasts are images`() throws {
    try expect(
      jsonFeed(#"{"id": "1", "banner_image": "https://e.com/1.jpg"}"#), ["banner_image https://e.com/1.jpg"],
      chosen: "https://e.com/1.jpg")
    try expect(
      rss("<item><itunes:image href='https://e.com/1.jpg'/></item>"), ["itunes:image https://e.com/1.jpg"],
      chosen: "https://e.com/1.jpg")
  }

  @Test func `the first image of the content is found, else that of the summary`() throws {
    let html = "&lt;p&gt;A &lt;IMG class=x src='https://e.com/1.jpg?a=1&amp;amp;b=2'&gt;"
    let address = "https://e.com/1.jpg?a=1&b=2"
    try expect(rss("<item><description>\(html)</description></item>"), ["summary \(address)"], chosen: address)
    try expect(
      rss("<item><content:encoded>\(html)</content:encoded></item>"), ["content \(address)"], chosen: address)
    try expect(atom("<entry><summary type='html'>\(html)</summary></entry>"), ["summary \(address)"], chosen: address)
    try expect(atom("<entry><content type='html'>\(html)</content></entry>"), ["content \(address)"], chosen: address)
    try expect(
      atom(
        """
        <entry><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>A</p>
        <img src="https://e.com/1.jpg?a=1&amp;b=2"/></div></content></entry>
        """), ["content \(address)"], chosen: address)
    try expect(
      jsonFeed(#"{"id": "1", "content_html": "<img src=\"https://e.com/1.jpg?a=1&amp;b=2\">"}"#),
      ["content \(address)"], chosen: address)
    try expect(
      rss(
        """
        <item><description>&lt;img src="https://e.com/s.jpg"&gt;</description>
        <content:encoded><![CDATA[<img src="https://e.com/c.jpg">]]></content:encoded></item>
        """), ["content https://e.com/c.jpg", "summary https://e.com/s.jpg"], chosen: "https://e.com/c.jpg")
  }

  static let images: [(String, String?)] = [
    ("<img src='data:image/gif;base64,R0' data-src='/lazy.jpg'>", "https://example.org/lazy.jpg"),
    ("<img src='a.jpg' srcset='b.jpg 320w, c.jpg 1280w, d.jpg 640w'>", "https://example.org/c.jpg"),
    ("<img src='a.jpg' srcset='b.jpg 1x, c.jpg 2x'>", "https://example.org/c.jpg"),
    ("<img src='p.gif' width=1 height=1><img src='a.jpg'>", "https://example.org/a.jpg"),
    ("<img src='p.gif' width='2' height='2'><img src='a.jpg'>", "https://example.org/a.jpg"),
    ("<img src='p.gif' style='width:1px; height: 1px'>", nil),
    ("<!-- <img src='a.jpg'> --><imgx src='b.jpg'><img alt='none'>", nil),
    (
      "<img src='javascript:alert(1)'><img src='ftp://e.com/a.jpg'><img src='//cdn.e.com/a.jpg'>",
      "https://cdn.e.com/a.jpg"
    ),
    ("<img alt='a > b' src=a.jpg>", "https://example.org/a.jpg"),
    // Text that looks like an image.
    ("<script>s = \"<img src='\" + u + \"'>\";</script><img src=a.jpg>", "https://example.org/a.jpg"),
    ("<STYLE><img src=b.jpg></Style ><textarea><img src=c.jpg></textarea><img src=a.jpg>", "https://example.org/a.jpg"),
    ("<script src=s.js /><img src=a.jpg>", "https://example.org/a.jpg"),
    ("<script><style><img src=a.jpg>", "https://example.org/a.jpg"),
    ("<textarea><script>s='<img src=b.jpg>'</script><img src=a.jpg>", "https://example.org/a.jpg"),
    ("<p title='Use <script> here'><img src=a.jpg></p><script src=s.js></script>", "https://example.org/a.jpg"),
    ("<a title='<img src=b.jpg>'><img src=a.jpg></a>", "https://example.org/a.jpg"),
    // A descriptor with width and height, a list separated only by spaces, and a descriptor that isn't a size.
    ("<img srcset='b.jpg 900w 600h, c.jpg 100w 50h' src=a.jpg>", "https://example.org/b.jpg"),
    ("<img srcset='a,b.jpg 1x,c.jpg 2x' src=a.jpg>", "https://example.org/c.jpg"),
    ("<img srcset='b.jpg wide, c.jpg 2.5x' src=a.jpg>", "https://example.org/c.jpg"),
    // Images that a page loads late.
    ("<img srcset='tiny.jpg 20w' data-srcset='b.jpg 800w, c.jpg 400w' src=tiny.jpg>", "https://example.org/b.jpg"),
    ("<img data-lazy-srcset='b.jpg 800w' src='data:,'>", "https://example.org/b.jpg"),
    ("<picture><source srcset='s.webp 400w, l.webp 900w'><img src='data:,'></picture>", "https://example.org/l.webp"),
    ("<picture><source srcset='l.webp 900w'><img src='a.jpg'></picture>", "https://example.org/a.jpg"),
    ("<picture><source srcset='l.webp 900w'></picture><img alt=none>", nil),
    ("<picture><source srcset='l.webp'><img width=1 height=1 src=p.gif></picture>", nil),
  ]

  @Test func `a width in percent isn't used as pixels`() throws {
    let item = try read(rss("<item><description>&lt;img src=a.jpg width='100%' height=40></description></item>")).items[
      0]
    #expect(item.image?.width == nil && item.image?.height == 40)
  }

  @Test(arguments: ["itunes:image", "media:thumbnail", "enclosure"])
  func `a URL in an element's text is read like one in its attribute`(name: String) throws {
    let found = ["\(name) https://e.com/1.jpg"]
    for text in ["https://e.com/1.jpg", "<url>https://e.com/1.jpg</url><type>image/jpeg</type>"] {
      try expect(rss("<item><\(name)>\(text)</\(name)></item>"), found, chosen: "https://e.com/1.jpg")
    }
    try expect(rss("<item><enclosure><url>https://e.com/1.mp3</url></enclosure></item>"), [], chosen: nil)
  }

  @Test func `an RSS 1.0 enclosure is read, and so are elements inside an enclosure`() throws {
    try expect(
      rss("<item><enc:enclosure rdf:resource='https://e.com/1.jpg' enc:type='image/jpeg'/></item>"),
      ["enclosure https://e.com/1.jpg"], chosen: "https://e.com/1.jpg")
    let thumbnail = "<media:thumbnail url='/t.jpg'/>"
    try expect(
      rss("<item><enclosure url='https://e.com/1.mp4' type='video/mp4'>\(thumbnail)</enclosure></item>"),
      ["media:thumbnail https://example.org/t.jpg"], chosen: "https://example.org/t.jpg")
  }

  @Test(arguments: ["a.jpg:large", "a.JPEG!thumb", "a.heif", "a.jfif?x=1.mp3"])
  func `a file extension is the letters after the path's last dot`(name: String) throws {
    let item = try read(rss("<item><media:content url='https://e.com/\(name)'/></item>")).items[0]
    #expect(item.images.count == 1)
  }

  @Test(arguments: images) func `the first displayed image of a text is used, and tracking pixels are ignored`(
    html: String, address: String?
  ) throws {
    let document = try read(rss("<item><description><![CDATA[\(html)]]></description></item>"))
    #expect(document.items[0].image?.address == address)
  }

  @Test func `the sources of images are used in the documented order`() throws {
    let all = [
      "<media:content url='https://e.com/m.jpg' medium='image'/>",
      "<enclosure url='https://e.com/e.jpg' type='image/jpeg'/>",
      "<image>https://e.com/i.jpg</image>", "<media:thumbnail url='https://e.com/t.jpg'/>",
      "<itunes:image href='https://e.com/p.jpg'/>",
      "<content:encoded>&lt;img src='https://e.com/c.jpg'></content:encoded>",
      "<description>&lt;img src='https://e.com/d.jpg'></description>",
    ]
    for first in all.indices {
      let document = try read(rss("<item>\(all[first...].reversed().joined())</item>"))
      #expect(document.items[0].images.count == all.count - first)
      #expect(
        document.items[0].image?.source == document.items[0].images.first { all[first].contains($0.address) }?.source)
    }
    let json =
      #"{"id":"1","banner_image":"https://e.com/b.jpg","image":"https://e.com/i.jpg","#
      + #""attachments":[{"url":"https://e.com/e.jpg","mime_type":"image/png"}]}"#
    #expect(try read(jsonFeed(json)).items[0].image?.source == .enclosure)
  }

  @Test func `of several media:content, the default one is used, else the widest`() throws {
    let group = """
      <media:content url="https://e.com/1.jpg" medium="image" width="100"/>
      <media:group><media:content url="https://e.com/2.jpg" medium="image" width="800" height="600"/>
      <media:content url="https://e.com/3.jpg" medium="image" width="400" DEFAULT/></media:group>
      """
    #expect(try read(rss("<item>\(group)</item>")).items[0].image?.address == "https://e.com/2.jpg")
    let chosen = group.replacing("DEFAULT", with: "isDefault=\"true\"")
    let item = try read(rss("<item>\(chosen)</item>")).items[0]
    #expect(item.image?.address == "https://e.com/3.jpg")
    #expect(item.images[1].width == 800 && item.images[1].height == 600)
    let thumbnails =
      "<media:thumbnail url='https://e.com/s.jpg' width='1'/><media:thumbnail url='https://e.com/l.jpg' width='9'/>"
    #expect(try read(rss("<item>\(thumbnails)</item>")).items[0].image?.address == "https://e.com/l.jpg")
  }

  @Test func `Atom content with a src is an image`() throws {
    try expect(
      atom("<entry><content type='image/png' src='https://e.com/1.png'/></entry>"), ["content https://e.com/1.png"],
      chosen: "https://e.com/1.png")
  }

  @Test func `more images per item than the limit are skipped and reported as a repair`() throws {
    var limits = FeedLimits()
    limits.imagesPerItem = 2
    let images = (1...3).map { "<media:thumbnail url='https://e.com/\($0).jpg'/>" }.joined()
    let document = try read(rss("<item>\(images)</item>"), limits: limits)
    #expect(document.items[0].images.count == 2)
    #expect(document.repairs == ["an item refers to more images than the limit allows"])
  }
}
