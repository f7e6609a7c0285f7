import FeedFormats
import TestSupport
import Testing

@Suite(.settled) struct FormatTests {
  static let documents: [(FeedKind, String)] = [
    (.rss20, rss("<item><title>One</title></item>")),
    (.rss091, "<rss version='0.91'><channel><item><title>One</title></item></channel></rss>"),
    (.rss092, "<rss version='0.92'><channel><item><title>One</title></item></channel></rss>"),
    (.rss093, "<rss version='0.93'><channel><item><title>One</title></item></channel></rss>"),
    (.rss094, "<rss version='0.94'><channel><item><title>One</title></item></channel></rss>"),
    (.rss, "<rss><channel><item><title>One</title></item></channel></rss>"),
    (
      .rss090,
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://my.netscape.com/rdf/simple/0.9/">
      <channel><title>T</title></channel><image><title>no</title></image><item><title>One</title></item></rdf:RDF>
      """
    ),
    (
      .rss10,
      """
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
      <channel rdf:about="https://e.com/"><title>T</title><items><rdf:Seq><rdf:li resource="x"/></rdf:Seq></items></channel>
      <item rdf:about="https://e.com/1"><title>One</title></item><textinput><title>no</title></textinput></rdf:RDF>
      """
    ),
    (.atom10, atom("<entry><title>One</title></entry>")),
    (.atom10, "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:title>One</a:title></a:entry></a:feed>"),
    (.atom03, "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry><title>One</title></entry></feed>"),
    (.jsonFeed1, jsonFeed(#"{"id": 1, "title": "One"}"#, version: "https://jsonfeed.org/version/1")),
    (.jsonFeed11, jsonFeed(#"{"id": "1", "title": "One"}"#)),
  ]

  @Test(arguments: documents) func `each format is recognized by its first bytes`(kind: FeedKind, text: String) throws {
    let document = try read(text)
    #expect(document.format == kind)
    #expect(document.items.map { $0.title?.plain } == ["One"])
    #expect(document.encoding == "UTF-8")
    #expect(try read("\u{FEFF}  \n" + text).items == document.items)
  }

  @Test func `hours and days that are skipped are each noted once`() throws {
    let many = (0..<10_000).map { "<hour>\($0 % 24)</hour>" }.joined()
    let days = "<day>Monday</day><day>Monday</day><day>\(String(repeating: "x", count: 100_000))</day>"
    let channel = "<skipHours>\(many)</skipHours><skipDays>\(days)</skipDays>"
    let polling = try read(rss("<item/>", channel: channel)).polling
    #expect(polling.skippedHours == Array(0..<24) && polling.skippedDays == ["Monday"])
  }

  @Test func `a hub or topic whose URL is long isn't a hint, because hints are saved at each poll`() throws {
    let long = "https://e.com/" + String(repeating: "x", count: 2_000)
    func polling(hub: String, topic: String) throws -> [PollingHints] {
      let links = "<atom:link rel='hub' href='\(hub)'/><atom:link rel='self' href='\(topic)'/>"
      let hubs =
        #"{"version": "https://jsonfeed.org/version/1.1", "feed_url": "\#(topic)", "#
        + #""hubs": [{"type": "WebSub", "url": "\#(hub)"}], "items": []}"#
      return [try read(rss("<item/>", channel: links)).polling, try read(hubs).polling]
    }
    for hints in try polling(hub: "https://hub.com/", topic: long) {
      #expect(hints.hub == "https://hub.com/" && hints.topic == nil)
    }
    for hints in try polling(hub: long, topic: "https://e.com/") { #expect(hints == PollingHints()) }
  }

  @Test func `a blog's RSS feed is read with all its elements`() throws {
    let document = try read(
      rss(
        """
        <item><title>Q&amp;amp;A</title><link>/posts/1?a=1&amp;b=2</link><guid isPermaLink="false">tag:1</guid>
        <pubDate>Thu, 01 Jan 2004 19:48:21 GMT</pubDate><dc:creator>me</dc:creator>
        <description>Short</description><content:encoded><![CDATA[<p>Long &amp; <b>bold</b></p>]]></content:encoded>
        <source url="https://other.com/"><title>no</title></source><media:description>A cat</media:description></item>
        <item><guid>https://example.org/2</guid><dc:title>Two</dc:title><dc:date>2004-01-02</dc:date></item>
        """,
        channel: """
          <ttl>60</ttl><atom:link rel="self" href="/self"/><atom:link rel="hub" href="https://hub.example.com/"/>
          <atom:link rel="next" href="?page=2"/><image><url>/logo.png</url><title>no</title><link>https://no.com/</link></image>
          <skipHours><hour>0</hour><hour>24</hour><hour>7</hour></skipHours><skipDays><day>Sunday</day></skipDays>
          <sy:updatePeriod> daily </sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency>
          """))
    #expect(document.title?.plain == "A feed")
    #expect(document.link == "https://example.org/")
    #expect(document.next == "https://example.org/feed.xml?page=2")
    #expect(document.hubs == ["https://hub.example.com/"])
    #expect(document.polling.minutesToLive == 60)
    #expect(document.polling.updateInterval == 43_200)
    #expect(document.polling.skippedHours == [0, 7])
    #expect(document.polling.skippedDays == ["Sunday"])
    #expect(document.repairs == [])
    let (one, two) = (document.items[0], document.items[1])
    #expect(one.title?.value == "Q&amp;A" && one.title?.plain == "Q&A")
    #expect(one.link == "https://example.org/posts/1?a=1&b=2")
    #expect(one.guid == "tag:1")
    #expect(one.published?.description == "2004-01-01T19:48:21Z")
    #expect(one.summary?.value == "Short")
    #expect(one.content?.value == "<p>Long &amp; <b>bold</b></p>")
    #expect(one.plainDescription == "Q&A" && one.plainText == "A cat")
    #expect(two.link == "https://example.org/2" && two.guid == "https://example.org/2")
    #expect(two.title?.plain == "Two" && two.plainDescription == "Two")
    #expect(two.published?.description == "2004-01-02T00:00:00Z")
  }

  @Test func `a video channel's Atom feed is read with its media group`() throws {
    let item = try read(
      atom(
        """
        <entry><id>yt:video:1</id><title>Video</title><link rel="alternate" href="https://v.com/watch?v=1"/>
        <author><name>no</name><uri>https://no.com</uri></author><published>2024-01-01T00:00:00+00:00</published>
        <updated>2024-01-02T00:00:00+00:00</updated><media:group><media:title>no</media:title>
        <media:content url="https://v.com/v/1" type="application/x-shockwave-flash" width="640"/>
        <media:thumbnail url="https://i.v.com/1.jpg" width="480" height="360"/>
        <media:description>Seen\nfrom above</media:description></media:group></entry>
        """)
    ).items[0]
    #expect(item.guid == "yt:video:1")
    #expect(item.title == FeedText("Video", isMarkup: false))
    #expect(item.link == "https://v.com/watch?v=1")
    #expect(item.published?.description == "2024-01-01T00:00:00Z")
    #expect(item.updated?.description == "2024-01-02T00:00:00Z")
    #expect(item.plainDescription == "Video" && item.plainText == "Seen from above" && item.plainAlt == nil)
    #expect(
      item.images == [
        FeedImageCandidate(address: "https://i.v.com/1.jpg", source: .mediaThumbnail, width: 480, height: 360, group: 1)
      ])
  }

  @Test func `Atom texts of every type are read`() throws {
    func content(_ element: String) throws -> FeedText? { try read(atom("<entry>\(element)</entry>")).items[0].content }
    #expect(try content("<content>1 &lt;b&gt;</content>") == FeedText("1 <b>", isMarkup: false))
    #expect(try content("<content type='html'>1 &lt;b&gt;</content>") == FeedText("1 <b>", isMarkup: true))
    #expect(
      try content(
        "<content type='xhtml'><x:div xmlns:x='http://www.w3.org/1999/xhtml'><x:p class='a'>1 &lt; 2<x:br/></x:p></x:div></content>"
      )
        == FeedText("<p class='a'>1 &lt; 2<br/></p>", isMarkup: true))
    #expect(try content("<content type='image/svg+xml'><p>1</p></content>") == FeedText("<p>1</p>", isMarkup: true))
    #expect(
      try content("<content type='application/octet-stream'>RW50 cnk=</content>") == FeedText("Entry", isMarkup: true))
    #expect(
      try content("<content type='application/json'>{\"a\":1}</content>") == FeedText("{\"a\":1}", isMarkup: true))
    #expect(
      try content("<content type='video/mp4'>//79</content>") == FeedText("//79", isMarkup: true),
      "bytes that aren't text stay as they came")
    #expect(try content("<content type='application/octet-stream'>IAo=</content>") == nil, "a space and a line feed")
    let old =
      "<feed version='0.3' xmlns='http://purl.org/atom/ns#'><entry>"
      + "<content type='text/html' mode='base64'>PGI+YjwvYj4=</content></entry></feed>"
    #expect(try read(old).items[0].content == FeedText("<b>b</b>", isMarkup: true))
    #expect(try read(old.replacing("PGI+", with: "PGI+\r\n")).items[0].content == FeedText("<b>b</b>", isMarkup: true))
  }

  @Test func `a link to a web page comes before one to another form of the item or the feed`() throws {
    func links(_ links: String) throws -> [String?] {
      let document = try read(atom("<entry>\(links)</entry>", feed: links))
      return [document.link, document.items[0].link]
    }
    let json = "<link rel='alternate' type='application/json' href='/1.json'/>"
    let page = "<link rel='alternate' type='Text/HTML; charset=utf-8' href='/1'/>"
    let (toJSON, toPage) = ("https://example.org/1.json", "https://example.org/1")
    #expect(try links(json + page) == [toPage, toPage])
    #expect(try links(page + json) == [toPage, toPage])
    #expect(try links(json + "<link href='/1'/>") == [toPage, toPage])
    let others = "<link rel='alternate' type='text/plain' href='/1.txt'/>"
    #expect(try links(json + others) == [toJSON, toJSON])
    #expect(try links("<link rel='related' href='/2'/>" + json) == [toJSON, toJSON])
  }

  @Test(arguments: ["", "\n", "\r\n", "&#13;", " \r "])
  func `a blank element doesn't hide another element with the same meaning`(blank: String) throws {
    let item = try read(
      rss(
        """
        <item><title>\(blank)</title><media:title>Sunset</media:title><description>\(blank)</description>
        <itunes:summary>At sea</itunes:summary><content:encoded>\(blank)</content:encoded><body>Waves</body></item>
        """)
    ).items[0]
    #expect(item.title?.value == "Sunset" && item.summary?.value == "At sea" && item.content?.value == "Waves")
  }

  @Test(arguments: ["&#8203;", "&#xFEFF; &#x2060;", "&#xAD;", "&#x200D;", "&#x2028;"])
  func `a title without a visible character isn't a title`(title: String) throws {
    let item = try read(rss("<item><title>\(title)</title><description>At sea</description></item>")).items[0]
    #expect(item.plainTitle == nil && item.plainDescription == "At sea")
  }

  @Test func `an item's place is a GeoRSS or GML point, or a name`() throws {
    func place(_ element: String) throws -> String? { try read(rss("<item>\(element)</item>")).items[0].location?.text }
    #expect(try place("<georss:point>45.256  -71.92</georss:point>") == "45.256 -71.92")
    #expect(try place("<geo:long>-71.92</geo:long><geo:lat>45.256</geo:lat>") == "45.256 -71.92")
    #expect(try place("<geo:Point><geo:lat>1</geo:lat><geo:long>2</geo:long></geo:Point>") == "1 2")
    #expect(
      try place("<georss:where><gml:Point><gml:pos>45,256</gml:pos></gml:Point></georss:where>") == "45 256")
    #expect(
      try place("<georss:point>1 2</georss:point><georss:featurename>Gent</georss:featurename>") == "Gent")
    #expect(try place("<georss:point>here</georss:point>") == nil)
  }

  @Test func `a place is read from Media RSS, and from a circle's center`() throws {
    let point = "<georss:where><gml:Point><gml:pos>35.669998 139.770004</gml:pos></gml:Point></georss:where>"
    let item = try read(
      rss("<item><media:content url='/1.jpg'><media:location>\(point)</media:location></media:content></item>")
    ).items[0]
    #expect(item.location == FeedPlace(point: "35.669998 139.770004"))
    let house = try read(rss("<item><media:location description='My house'>\(point)</media:location></item>")).items[0]
    #expect(house.location == FeedPlace(name: "My house", point: "35.669998 139.770004"))
    let circle = try read(rss("<item><georss:circle>42.9 -71.0 500</georss:circle></item>")).items[0]
    #expect(circle.location?.text == "42.9 -71.0")
    let old = try read(rss("<item><gml:Point><gml:coordinates>42.9,-71.0</gml:coordinates></gml:Point></item>")).items[
      0]
    #expect(old.location?.text == "42.9 -71.0")
  }

  @Test(arguments: [
    "<georss:line>45.256 -110.45 46.46 -109.48 43.84 -109.86</georss:line>",
    "<georss:polygon>45.256 -110.45 46.46 -109.48 43.84 -109.86 45.256 -110.45</georss:polygon>",
    "<georss:box>45.256 -110.45 46.46 -109.48</georss:box>", "<georss:point>45.256 -110.45 1200</georss:point>",
    """
    <georss:where><gml:LineString><gml:posList>45.256 -110.45 46.46 -109.48</gml:posList></gml:LineString></georss:where>
    """,
    """
    <georss:where><gml:Polygon><gml:exterior><gml:LinearRing><gml:posList>
    45.256 -110.45 46.46 -109.48 43.84 -109.86 45.256 -110.45
    </gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></georss:where>
    """,
    """
    <georss:where><gml:Envelope><gml:lowerCorner>45.256 -110.45</gml:lowerCorner>
    <gml:upperCorner>46.46 -109.48</gml:upperCorner></gml:Envelope></georss:where>
    """,
    "<georss:line>45.256,-110.45 46.46,-109.48</georss:line>",
  ]) func `the place of a line, a polygon or a box is its first point`(shape: String) throws {
    #expect(try read(rss("<item>\(shape)</item>")).items[0].location == FeedPlace(point: "45.256 -110.45"))
    let empty = shape.replacing("45.256", with: "nowhere")
    #expect(try read(rss("<item>\(empty)</item>")).items[0].location == nil)
  }

  @Test func `a CDF channel is read`() throws {
    let document = try read(
      """
      <?XML version="1.0"?>
      <CHANNEL HREF="http://example.com/" BASE="http://example.com/" LASTMOD="2004-04-06T23:05">
      <TITLE>Harbours</TITLE><ABSTRACT>Boats &amp; more</ABSTRACT><LOGO HREF="/icon.gif" STYLE="ICON"/>
      <SCHEDULE><INTERVALTIME DAY="1"/></SCHEDULE>
      <ITEM HREF="/one.html" LASTMOD="2004-04-06T23:05:43-05:00"><TITLE>One</TITLE><ABSTRACT>The first</ABSTRACT>
      <LOGO HREF="/small.gif" STYLE="ICON"/><LOGO HREF="/one.gif" STYLE="IMAGE"></ITEM>
      <CHANNEL><TITLE>Inner</TITLE><ITEM><A HREF="two.html">Two</A><TITLE>Two</TITLE></ITEM></CHANNEL></CHANNEL>
      """)
    #expect(document.format == .cdf && document.title?.plain == "Harbours" && document.link == "http://example.com/")
    #expect(document.items.map(\.link) == ["https://example.org/one.html", "https://example.org/two.html"])
    let one = document.items[0]
    #expect(one.title?.plain == "One" && one.summary?.plain == "The first")
    #expect(one.updated?.description == "2004-04-07T04:05:43Z")
    #expect(one.found == ["image https://example.org/one.gif"] && document.items[1].found == [])
    #expect(!document.repairs.contains("the root element is missing"))
    // RSS without its root element is still read as RSS.
    let rss = try read("<channel><item><title>One</title><link>https://e.com/</link></item></channel>")
    #expect(rss.format == .rss && rss.repairs == ["the root element is missing"])
  }

  @Test func `RSS in JSON is read`() throws {
    let document = try read(
      #"""
      {"rss": {"version": "2.0", "channel": {"title": "Words & é", "link": "http://example.com/", "ttl": "15",
        "item": [
          {"title": "One", "link": "http://example.com/1", "description": "<p>Text <img src=\"a.png\"></p>",
           "pubDate": "Fri, 20 Jan 2017 12:00:00 GMT", "guid": {"isPermaLink": "false", "#value": "one"},
           "enclosure": {"url": "/one.jpg", "type": "image/jpeg", "length": "1234"}},
          {"description": "No title", "guid": "http://example.com/2", "enclosure": {"url": "/2.mp3", "type": "audio/mpeg"},
           "media:content": [{"url": "/2.mp4", "medium": "video"}, {"url": "/2.png", "width": "80", "height": 60}],
           "media:thumbnail": {"url": "/t.png"}},
          {"guid": {"#value": "http://example.com/3", "isPermaLink": false}}, 7]}}}
      """#)
    #expect(document.format == .rssJSON && document.link == "http://example.com/")
    #expect(document.title?.plain == "Words & é")
    #expect(document.polling.minutesToLive == 15)
    #expect(document.items.map(\.guid) == ["one", "http://example.com/2", "http://example.com/3"])
    #expect(document.items.map(\.link) == ["http://example.com/1", "http://example.com/2", nil])
    let (one, two) = (document.items[0], document.items[1])
    #expect(one.title?.plain == "One" && one.summary?.plain == "Text")
    #expect(one.published?.description == "2017-01-20T12:00:00Z")
    #expect(one.found == ["enclosure https://example.org/one.jpg", "summary http://example.com/a.png"])
    #expect(two.found == ["media:content https://example.org/2.png", "media:thumbnail https://example.org/t.png"])
    #expect(two.image?.width == 80 && two.image?.height == 60)
    #expect(document.repairs == ["a value of an unexpected type was skipped"])
    let single = try read(#"{"rss": {"channel": {"item": {"title": "Alone"}}}}"#)
    #expect(single.items.map { $0.title?.plain } == ["Alone"])
    #expect(try read(#"{"rss": {"channel": {}}}"#).items.isEmpty)
  }

  @Test func `a feed inside a web page is read, and a page with only parts of one is a web page`() throws {
    let page = "<!DOCTYPE html><html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body>"
    let document = try read(page + atom("<entry><title>1</title></entry>").dropFirst(21) + "</body></html>")
    #expect(document.format == .atom10 && document.items.map { $0.title?.value } == ["1"])
    for text in [
      page + "<script>s = '<rss version=\"2.0\"><channel>'</script></body></html>",
      page + "<item><title>x</title></item>", "<html><body><p>" + String(repeating: "<p><b>", count: 300),
      "<html><script>if(a<\(String(repeating: "b", count: 2000)))",
    ] {
      #expect(throws: FeedFormatError.webPage) { try read(text) }
    }
  }

  @Test func `XML with item elements but no feed isn't a feed`() throws {
    let text = "<project name='x'><menu><item name='a' href='b.html'/><item name='c' href='d.html'/></menu></project>"
    #expect(throws: FeedFormatError.notAFeed) { try read(text) }
  }

  @Test func `a JSON Feed is read with all its members`() throws {
    let document = try read(
      jsonFeed(
        #"""
        {"id": "1", "url": "/1", "title": "A \u00e9\ud83d\ude00", "content_text": "plain <b>", "summary": "S",
         "date_published": "2003-12-31T10:14:55-01:00", "external_url": "https://no.com/"},
        {"id": 2.5, "external_url": "https://e.com/2", "content_html": "<p>x</p>", "title": 7}, "junk"
        """#,
        top:
          #""next_url": "/2", "feed_url": "https://example.org/feed.json", "hubs": [{"type": "WebSub", "url": "https://hub.com/"}],"#
      ))
    #expect(document.next == "https://example.org/2")
    #expect(document.hubs == ["https://hub.com/"])
    #expect(document.repairs == ["a value of an unexpected type was skipped"])
    let (one, two) = (document.items[0], document.items[1])
    #expect(document.items.count == 2)
    #expect(one.link == "https://example.org/1")
    #expect(one.title?.value == "A é😀")
    #expect(one.content == FeedText("plain <b>", isMarkup: false))
    #expect(one.published?.description == "2003-12-31T11:14:55Z")
    #expect(two.guid == "2.5" && two.link == "https://e.com/2" && two.title == nil)
  }

  @Test func `a JSON Feed with invalid strings is repaired`() throws {
    let bytes = Array(jsonFeed(#"{"id": "1", "title": "a\ud83d"}, {"id": "2", "title": "b~c"}"#).utf8)
      .flatMap { $0 == UInt8(ascii: "~") ? [0x0A, 0xE9] : [$0] }
    let document = try read(bytes: bytes)
    #expect(document.items.map { $0.title?.plain } == ["a\u{FFFD}", "b éc"])
    #expect(document.repairs.count == 2)
    let escaped = try read(jsonFeed(#"{"id": "1", "title": "a\\ud83d\udc00 \ud83d\ude00\ude00"}"#))
    #expect(escaped.items.map { $0.title?.value } == ["a\\ud83d\u{FFFD} 😀\u{FFFD}"])
  }

  @Test func `trailing commas in a JSON Feed are skipped, and a truncated one is read up to the cut`() throws {
    let commas = try read(jsonFeed(#"{"id": "1", "tags": ["a,]", ], "title": "x",}, {"id": "2"} , "#))
    #expect(commas.items.map(\.guid) == ["1", "2"] && commas.items[0].title?.value == "x")
    #expect(commas.repairs == ["a trailing comma was skipped"])
    let whole = jsonFeed(#"{"id": "1", "a": [{}]}, {"id": "2"}, {"id": "3", "image": "https://e.com/3.jpg"}"#)
    for end in [#""id": "3""#, #""https://e.com"#, "3.jpg"] {
      let cut = try read(String(whole[..<whole.firstRange(of: end)!.upperBound]))
      #expect(cut.items.map(\.guid) == ["1", "2"])
      #expect(cut.repairs == ["the document is cut off"])
    }
    let first = jsonFeed(#"{"id": "1"}"#, top: #""authors": [{"name": "A"}],"#)
    let early = String(first[..<first.firstRange(of: #"{"id": "#)!.upperBound])
    let error = #expect(throws: FeedFormatError.self) { try read(early) }
    if case .notJSON? = error {} else { Issue.record("\(String(describing: error))") }
    // Essential Feed JSON, whose rules are strict, is still recognized as such.
    let item = #"{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "image": "https://e.com/1.jpg"}"#
    #expect(throws: FeedFormatError.self) { try read(#"{"items": [\#(item), {"id": "73A7"#) }
  }

  @Test func `numbers of any size in a JSON Feed are accepted, and ids keep all their digits`() throws {
    let items = """
      {"id": 123456789012345678901234567890, "_x": [1e400, -9223372036854775809, 1.5, -7]},
      {"id": 18446744073709551615}, {"id": "3"}
      """
    let document = try read(jsonFeed(items))
    #expect(document.items.map(\.guid) == ["123456789012345678901234567890", "18446744073709551615", "3"])
    #expect(document.format == .jsonFeed11)
    // The second id is a number.
    #expect(document.repairs == ["a value of an unexpected type was skipped"])
    let whole = jsonFeed(items)
    let last = whole.firstRange(of: #"{"id": "3""#)!.lowerBound
    let cut = try read(String(whole[..<last]) + #"{"id": 12345678901234567890123"#)
    #expect(cut.items.map(\.guid) == document.items.dropLast().map(\.guid))
    #expect(cut.repairs == document.repairs + ["the document is cut off"])
  }

  @Test func `a JSON Feed without a version is read`() throws {
    let text = #"{"title": "T", "feed_url": "https://e.com/", "items": [{"id": "x", "title": "One"}]}"#
    #expect(try read(text).repairs == ["the version of JSON Feed is missing"])
  }
}
