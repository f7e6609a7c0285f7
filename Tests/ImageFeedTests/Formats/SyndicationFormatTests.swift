import FeedFormats
import Foundation
import ImageFeed
import TestSupport
import Testing

/// Web feeds as feed images.
@Suite(.settled) struct SyndicationFormatTests {
  private let url = URL(string: "https://example.com/feed.xml")!

  private func images(_ text: String, type: String? = nil) throws(InvalidData) -> FeedImages {
    try [any FeedFormat].web.images(of: WebDocument(body: Data(text.utf8), type: type, url: url))
  }

  @Test func `a blog's RSS feed becomes its items' images`() throws {
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:georss="http://www.georss.org/georss"><channel>
      <item><title>Harbour &amp; sea</title><guid>1</guid><georss:featurename>Zadar</georss:featurename>
        <media:content url="/harbour.jpg" medium="image"/></item>
      <item><title>Words only</title></item>
      </channel></rss>
      """)
    #expect(images.map(\.description) == ["Harbour & sea"])
    #expect(images.map(\.location) == ["Zadar"])
    #expect(images.map(\.url.absoluteString) == ["https://example.com/harbour.jpg"])
    #expect(images.omittedItems == 1)
  }

  @Test func `a channel's Atom feed becomes its thumbnails`() throws {
    let images = try images(
      """
      <feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
      <entry><id>yt:video:1</id><title>A film</title><link rel="alternate" href="https://example.com/watch?v=1"/>
        <media:group><media:title>A film</media:title><media:thumbnail url="https://i.example.com/1.jpg" width="480"/>
        <media:description>What is in it</media:description></media:group></entry></feed>
      """)
    #expect(images.map(\.description) == ["A film"])
    #expect(images.map(\.text) == ["What is in it"])
    #expect(images.map(\.link?.absoluteString) == ["https://example.com/watch?v=1"])
    #expect(images.map(\.url.absoluteString) == ["https://i.example.com/1.jpg"])
  }

  @Test func `a JSON Feed becomes its images, and isn't read as Essential Feed JSON`() throws {
    let images = try images(
      """
      {"items": [{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "title": "Sea", "image": "https://example.com/sea.jpg"},
        {"id": "2", "content_text": "none"}],
      "version": "https://jsonfeed.org/version/1.1", "title": "A feed"}
      """)
    #expect(images.map(\.description) == ["Sea"])
    #expect(images.omittedItems == 1)
  }

  @Test func `an item without a title gets its first words as caption, and its images have their alt texts`() throws {
    let images = try images(
      """
      {"version": "https://jsonfeed.org/version/1.1", "title": "Microblog", "items": [
        {"id": "1", "url": "https://example.com/1", "content_html":
          "<p>A walk. And more of it.</p><img src='a.jpg' alt='A &amp; b'><img src='b.jpg'>"},
        {"id": "2", "content_html": "<img src='/c.jpg' title='A cat'>"},
        {"id": "3", "title": " ", "image": "/d.jpg"}]}
      """)
    #expect(images.title == "Microblog")
    #expect(images.map(\.caption) == ["A walk. And more of it.", "A cat", nil])
    #expect(images.map(\.title) == [nil, nil, nil])
    #expect(images.map(\.text) == ["A walk.", nil, nil])
    #expect(images.map(\.alt) == ["A & b", "A cat", nil])
    #expect(
      images[0].images == [
        .init(url: "https://example.com/a.jpg", alt: "A & b"), .init(url: "https://example.com/b.jpg"),
      ])
    #expect(images[2].images == [.init(url: "https://example.com/d.jpg")])
  }

  @Test func `all images of a post are one item, in order, each with its alternative text`() throws {
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><item><guid>1</guid>
      <media:content url="https://e.com/1.jpg" medium="image"/><media:content url="https://e.com/2.jpg" medium="image"/>
      <description>&lt;img src="https://e.com/2.jpg" alt="Two"&gt;&lt;img src="https://e.com/3.jpg" alt="Three"&gt;\
      &lt;img src="https://e.com/1.jpg" alt="One"&gt;</description></item></channel></rss>
      """)
    #expect(images.count == 1)
    #expect(
      images[0].images == [
        .init(url: "https://e.com/1.jpg", alt: "One"), .init(url: "https://e.com/2.jpg", alt: "Two"),
        .init(url: "https://e.com/3.jpg", alt: "Three"),
      ])
    #expect(FeedImages(images) == images, "they are stored with it")
  }

  @Test func `the same image in several places and sizes is one image`() throws {
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"
        xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><item><guid>1</guid>
      <enclosure url="https://e.com/uploads/sea.jpg" type="image/jpeg" length="1"/>
      <itunes:image href="https://e.com/cover.jpg"/><media:thumbnail url="https://e.com/thumb/sea.jpg"/>
      <description>&lt;img src="https://e.com/uploads/sea-1024x768.jpg" alt="The sea"&gt;\
      &lt;img src="https://i0.wp.com/e.com/uploads/sea.jpg?resize=600%2C400&amp;ssl=1"&gt;\
      &lt;img src="https://s.w.org/images/core/emoji/72x72/1f600.png"&gt;\
      &lt;img src="https://e.com/icon.png" width="16" height="16"&gt;\
      &lt;img src="https://e.com/show.php?id=7&amp;w=300"&gt;&lt;img src="https://e.com/show.php?id=7&amp;w=900"&gt;\
      &lt;img src="https://e.com/show.php?id=8&amp;w=300"&gt;</description></item>
      <item><guid>2</guid><media:group><media:content url="https://e.com/a/small.jpg" medium="image" width="100"/>
      <media:content url="https://e.com/b/large.jpg" medium="image" width="900"/>
      <media:thumbnail url="https://e.com/t.jpg"/></media:group></item></channel></rss>
      """)
    #expect(
      images[0].images == [
        .init(url: "https://e.com/uploads/sea.jpg", alt: "The sea"), .init(url: "https://e.com/show.php?id=7&w=900"),
        .init(url: "https://e.com/show.php?id=8&w=300"),
      ])
    #expect(images[1].post.images == [])
    #expect(images[1].url.absoluteString == "https://e.com/b/large.jpg")
  }

  @Test func `an item's only image has the alternative text of its duplicates in other sizes`() throws {
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
      <item><guid>1</guid><title>Title</title><enclosure url="https://e.com/a.jpg" type="image/jpeg" length="1"/>
      <description>&lt;img src="https://e.com/a.jpg?w=600" alt="A boat"&gt;</description>
      <media:content url="https://e.com/a.jpg?w=1200" medium="image"/></item>
      <item><guid>2</guid><description>&lt;img src="https://e.com/b-600x420.jpg" alt="A pier"&gt;</description>
      <media:content url="https://e.com/b.jpg" medium="image"/></item></channel></rss>
      """)
    #expect(images.map(\.alt) == ["A boat", "A pier"])
    #expect(images.allSatisfy { $0.post.images.isEmpty })
    #expect(images.map(\.caption) == ["Title", "A pier"])
  }

  @Test func `a thumbnail gives way to a larger version of the same image, and the item keeps its id`() throws {
    func document(_ content: String) -> String {
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
      <item><media:thumbnail url="https://e.com/sea-150x150.jpg" width="150"/><description>\(content)</description></item>
      <item><guid>2</guid><media:thumbnail url="https://1.bp.blogspot.com/-a/s72-c/tern.jpg" width="72"/>
      <description>&lt;img src="https://1.bp.blogspot.com/-a/w640-h426/tern.jpg"&gt;</description></item>
      <item><guid>3</guid><media:thumbnail url="https://blogger.googleusercontent.com/img/a/AV=s72-c"/>
      <description>&lt;img src="https://blogger.googleusercontent.com/img/a/AV=s1600" alt="A gull"&gt;</description></item>
      </channel></rss>
      """
    }
    let thumbnails = try images(document(""))
    let images = try images(document("&lt;img src=&quot;https://e.com/sea-1024x768.jpg&quot;&gt;"))
    #expect(thumbnails[0].url.absoluteString == "https://e.com/sea-150x150.jpg")
    #expect(
      images.map(\.url.absoluteString) == [
        "https://e.com/sea-1024x768.jpg", "https://1.bp.blogspot.com/-a/w640-h426/tern.jpg",
        "https://blogger.googleusercontent.com/img/a/AV=s1600",
      ])
    #expect(images.allSatisfy { $0.post.images.isEmpty })
    #expect(images.map(\.id) == thumbnails.map(\.id))
  }

  @Test func `a thumbnail doesn't give way to a smaller version of the same image`() throws {
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"
        xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel>
      <item><guid>1</guid><media:thumbnail url="https://e.com/sea.jpg" width="1200"/>
      <description>&lt;img src="https://e.com/sea-300x200.jpg" width="300"&gt;</description></item>
      <item><guid>2</guid><itunes:image href="https://e.com/cover.jpg"/>
      <description>&lt;img src="https://e.com/cover-300x300.jpg"&gt;</description></item>
      <item><guid>4</guid><itunes:image href="https://e.com/b-1400x1400.jpg"/>
      <description>&lt;img src="https://e.com/b-300x300.jpg"&gt;&lt;img src="https://e.com/b.jpg?w=200"&gt;</description></item>
      <item><guid>3</guid><media:thumbnail url="https://e.com/a-150x150.jpg" width="150"/>
      <description>&lt;img src="https://e.com/a-1024x768.jpg"&gt;\
      &lt;img src="https://e.com/a-32x32.jpg" width="32" height="32"&gt;</description></item></channel></rss>
      """)
    #expect(
      images.map(\.url.absoluteString) == [
        "https://e.com/sea.jpg", "https://e.com/cover.jpg", "https://e.com/b-1400x1400.jpg",
        "https://e.com/a-1024x768.jpg",
      ])
  }

  @Test func `an image gives way to a wider version, even if only its URL states its width`() throws {
    let images = try images(
      """
      <rss version="2.0"><channel><item><guid>1</guid>
      <enclosure url="https://e.com/a.jpg" type="image/jpeg" length="1"/>
      <description>&lt;img src="https://e.com/b-300x200.jpg"&gt;\
      &lt;img src="https://e.com/b-1024x768.jpg" width="1024" height="768"&gt;\
      &lt;img src="https://e.com/c.jpg"&gt;&lt;img src="https://e.com/c-300x200.jpg" width="300"&gt;\
      &lt;img src="https://i0.wp.com/e.com/d.jpg?resize=300%2C200"&gt;\
      &lt;img src="https://e.com/d-1024x768.jpg" width="1024" height="768"&gt;\
      &lt;img src="https://e.com/e.jpg?w=300&amp;fit=crop"&gt;&lt;img src="https://e.com/e-1024x768.jpg"&gt;\
      &lt;img src="https://e.com/fit-20.jpg"&gt;&lt;img src="https://e.com/fit-20-300x200.jpg"&gt;\
      &lt;img src="https://e.com/f.jpg?w=1200&amp;fit=1"&gt;&lt;img src="https://e.com/f-300x200.jpg"&gt;\
      &lt;img src="https://e.com/g.jpg?size=2"&gt;&lt;img src="https://e.com/g-300x200.jpg"&gt;</description></item>
      </channel></rss>
      """)
    #expect(
      images[0].images == [
        .init(url: "https://e.com/a.jpg"), .init(url: "https://e.com/b-1024x768.jpg"),
        .init(url: "https://e.com/c.jpg"), .init(url: "https://e.com/d-1024x768.jpg"),
        .init(url: "https://e.com/e-1024x768.jpg"), .init(url: "https://e.com/fit-20.jpg"),
        .init(url: "https://e.com/f.jpg?w=1200&fit=1"), .init(url: "https://e.com/g.jpg?size=2"),
      ])
  }

  @Test func `if a post has text, its media:description is the image's alternative text`() throws {
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
      <item><guid>1</guid><description>&lt;p&gt;Look at that!&lt;/p&gt;</description><link>https://e.com/@a/1</link>
        <media:content url="/harbour.jpg" medium="image"><media:description>Boats</media:description></media:content></item>
      </channel></rss>
      """)
    #expect(images.map(\.caption) == ["Look at that!"])
    #expect(images.map(\.text) == ["Look at that!"])
    #expect(images.map(\.alt) == ["Boats"])
  }

  @Test func `each image of a post has the description in its own element`() throws {
    func content(_ name: String, _ description: String) -> String {
      "<media:content url=\"/\(name).jpg\" medium=\"image\"><media:description>\(description)</media:description></media:content>"
    }
    let images = try images(
      """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel>
      <item><guid>1</guid><description>Two boats</description>\(content("a", "Red"))\(content("b", "Blue"))</item>
      <item><guid>2</guid><description>Two more</description>\(content("c", ""))\(content("d", "Green"))</item>
      </channel></rss>
      """)
    #expect(images[0].images.map(\.alt) == ["Red", "Blue"])
    #expect(images[0].alt == "Red")
    #expect(images[1].images.map(\.alt) == [nil, "Green"])
    #expect(images[1].alt == nil)
  }

  @Test func `texts are taken from their beginning, and cut between words`() throws {
    let words = String(repeating: "word ", count: 30_000)
    let images = try images(
      """
      <rss version="2.0"><channel><item><guid>1</guid><description><![CDATA[<style>\(words)</style>\(words)<img src="/a.png">]]>
      </description></item></channel></rss>
      """)
    let (caption, text) = (try #require(images[0].caption), try #require(images[0].text))
    #expect(caption.hasSuffix("word…") && (90...100).contains(caption.count))
    #expect(text.hasSuffix("word…") && (990...1000).contains(text.count))
  }

  private static let long = String(repeating: "no{} ", count: 10_000)

  /// The text after a comment that leaves only `count` of its bytes in the first 16 KiB.
  private static func cut(_ text: String, after count: Int) -> String {
    "<!--\(String(repeating: "x", count: (16 << 10) - 7 - count))-->\(text)"
  }

  private static let starts: [(String, String)] = [
    ("<b>By Ann</b> ", "By Ann word"), ("<b>1 < 2</b> </3 and 3 < 4 ", "1 < 2 < /3 and 3 < 4 word"),
    ("<style>\(long)</style>", "word"), ("<!--<b>no</b>\(long)-->", "word"),
    ("<img alt='a > b' src='data:\(long)'>", "word"), ("<img alt='a < b' src='data:\(long)'>", "word"),
    ("&lt;img src='data:\(long)'&gt;", "word"), ("<b>By Ann</b> <img src='data:\(long)'>", "By Ann word"),
    ("<b>By Ann</b> <style>\(long)</style>", "By Ann word"),
    ("<img src='data:\(String(repeating: "x", count: 16_000))'>", "word"),
    (cut("<b>", after: 1), "word"), (cut("</b>", after: 2), "word"), (cut("<!-- no -->", after: 3), "word"),
    (cut("é", after: 1), "éword"),
  ]

  @Test(arguments: starts)
  func `the beginning of a long text is read, without tags, styles and comments that it cuts`(
    start: String, expected: String
  ) throws {
    let words = String(repeating: "word ", count: 30_000)
    let images = try images(
      """
      <rss version="2.0"><channel><item><guid>1</guid><description><![CDATA[\(start)\(words)<img src="/a.png">]]>
      </description></item></channel></rss>
      """)
    let text = try #require(images[0].text)
    #expect(text.hasPrefix(expected) && text.hasSuffix("word…") && (990...1000).contains(text.count))
    #expect(!text.contains("no"))
  }

  @Test(arguments: ["<link>https://e.com/</link>", "<guid>0</guid>"])
  func `items that share a link or guid keep their ids when others arrive, leave or are edited`(name: String) throws {
    func item(_ title: String?, hour: Int?, image: String, query: Int = 1) -> String {
      "<item>\(name)" + (title.map { "<title>\($0)</title>" } ?? "")
        + (hour.map { "<pubDate>Thu, 01 Jan 2004 \($0):00:00 GMT</pubDate>" } ?? "")
        + "<enclosure url='https://e.com/\(image).png?t=\(query)' type='image/png'/></item>"
    }
    func ids(_ items: [String]) throws -> [FeedImage.ID] {
      try images("<rss version='2.0'><channel>\(items.joined())</channel></rss>").map(\.id)
    }
    let kinds: [(Int, Int) -> String] = [
      { item("Webcam", hour: 10 + $0, image: "now", query: $1) },
      { item("\($0)", hour: nil, image: "\($0)", query: $1) },
      { item("\($0)", hour: nil, image: "now", query: $1) },
      { item(nil, hour: nil, image: "\($0)", query: $1) },
      { item($0 > 1 ? "\($0)" : nil, hour: $0 > 2 ? 10 + $0 : nil, image: "\($0)", query: $1) },
    ]
    let others = [
      item("New", hour: nil, image: "new"), item("New", hour: 20, image: "new"), item(nil, hour: 20, image: "new"),
      item(nil, hour: nil, image: "new"),
    ]
    for kind in kinds {
      let items = [3, 2, 1].map { kind($0, 1) }
      let before = try ids(items)
      #expect(Set(before).count == 3 && Set(before.map(\.uuid)).count == 3)
      for other in others {
        #expect(try ids([other] + items).suffix(3) == before[...], "an item is added at the top")
        #expect(try ids([other] + items.dropFirst()).suffix(2) == before[1...], "or takes the place of another")
      }
      #expect(try ids(Array(items.dropLast())) == Array(before.dropLast()), "one leaves at the end")
      #expect(try ids([3, 2, 1].map { kind($0, 2) }) == before, "the queries of the images change")
    }
    let dated = [13, 12, 11].map { item("Live", hour: $0, image: "now") }
    #expect(try ids([item("Live: 1:0", hour: 13, image: "now")] + dated.dropFirst()) == ids(dated), "a title is edited")
    let undated = ["c", "b", "a"].map { item($0, hour: nil, image: $0) }
    let edited = try ids([item("C", hour: nil, image: "c")] + undated.dropFirst())
    #expect(try edited.suffix(2) == ids(undated).suffix(2), "without dates, only the edited item has another id")
  }

  /// A feed of items with the same link and image, each with the given elements.
  private func webcam(_ items: [String], name: String = "<link>https://e.com/</link>", image: String = "now.png")
    -> String
  {
    let items = items.enumerated().map { number, item in
      let image = "<enclosure url='https://e.com/\(image.replacing("N", with: "\(number)"))' type='image/png'/>"
      return "<item>\(name)\(item)\(image)</item>"
    }
    return "<rss version='2.0'><channel>\(items.joined())</channel></rss>"
  }

  @Test(arguments: ["", "<link>https://e.com/</link>", "<guid>0</guid>"])
  func `items that share even the image are distinguished by their dates or titles`(name: String) throws {
    func date(_ hour: Int) -> String { "<pubDate>Thu, 01 Jan 2004 \(hour):00:00 GMT</pubDate>" }
    func title(_ hour: Int) -> String { "<title>\(hour):00</title>" }
    for item in [title, date] {
      let old = try images(webcam([item(12), item(11)], name: name))
      let new = try images(webcam([item(13), item(12)], name: name))
      #expect(new[1].id == old[0].id && !old.map(\.id).contains(new[0].id))
    }
  }

  @Test func `items that share a link keep their ids when the URLs of their images change`() throws {
    let titles = ["<title>9:00</title>", "<title>8:00</title>"]
    let old = try images(webcam(titles, image: "N.png"))
    #expect(try images(webcam(titles, image: "new/N.png")).map(\.id) == old.map(\.id))
    let untitled = try images(webcam(["", ""], image: "N.png?t=1"))
    #expect(try images(webcam(["", ""], image: "N.png?t=2")).map(\.id) == untitled.map(\.id))
    let numbers = try images(webcam(["", "", ""], image: "show.php?id=N"))
    #expect(Set(numbers.map(\.id.uuid)).count == 3, "the query tells them apart")
  }

  @Test func `items that share a link keep their ids when all get the date of the request`() throws {
    func items(_ hour: Int) -> [String] {
      ["c", "b", "a"].map { "<title>\($0)</title><pubDate>Thu, 01 Jan 2004 \(hour):00:00 GMT</pubDate>" }
    }
    #expect(try images(webcam(items(10))).map(\.id) == images(webcam(items(11))).map(\.id))
  }

  @Test func `the id of an undated item that shares its link is a version 5 UUID of the link and the title`() throws {
    let images = try images(webcam(["<title>9:00</title>", "<title>8:00</title>"]))
    // uuid.uuid5(uuid.NAMESPACE_URL, "https://example.com/feed.xml\nhttps://e.com/\n9:00") of Python.
    #expect("\(images[0].id)" == "068DBA18-D61A-5B7D-836B-35425F83FC91")
  }

  @Test func `an item that its document lists twice keeps its id`() throws {
    let item = "<item><guid>1</guid><enclosure url='https://e.com/1.png' type='image/png'/></item>"
    let once = try images("<rss version='2.0'><channel>\(item)</channel></rss>")
    let twice = try images("<rss version='2.0'><channel>\(item)\(item)</channel></rss>")
    #expect(twice.map(\.id) == [once[0].id, FeedImage.ID(once[0].id.uuid, number: 2)])
  }

  @Test func `a UUID is kept as id, other names get a version 5 UUID, and repeated ids are numbered`() throws {
    func item(_ guid: String, _ image: String) -> String {
      "<item><guid>\(guid)</guid><enclosure url=\"https://e.com/\(image)\" type=\"image/png\"/></item>"
    }
    let uuid = "73a7f70c-75da-4c2e-b5a3-eed40dc53aa6"
    let images = try images(
      "<rss><channel>\(item(uuid, "a"))\(item("1", "b"))\(item(uuid, "a"))\(item("1", "b"))\(item("", "e"))</channel></rss>"
    )
    // uuid.uuid5(uuid.NAMESPACE_URL, "https://example.com/feed.xml\n1") of Python, and of the address instead of a name.
    #expect(
      images.map { "\($0.id)" } == [
        uuid.uppercased(), "AA86545A-0855-5458-A137-BF41696A8CB8", "\(uuid.uppercased())-2",
        "AA86545A-0855-5458-A137-BF41696A8CB8-2", "E83DFECD-4D7A-51D4-90EC-185D3DE66435",
      ])
  }

  @Test func `RSS in JSON and CDF are read as feeds`() throws {
    let json = try images(
      """
      {
        "rss" : {"channel": {"item": [{"title": "Sea", "enclosure": {"url": "/sea.png", "type": "image/png"}},
          {"title": "Words"}]}}}
      """)
    #expect(json.map(\.description) == ["Sea"] && json.omittedItems == 1)
    #expect(json.map(\.url.absoluteString) == ["https://example.com/sea.png"])
    let cdf = try images(
      "<CHANNEL HREF='http://a/'><ITEM HREF='/1'><TITLE>1</TITLE><LOGO HREF='/1.gif' STYLE='IMAGE'/></ITEM></CHANNEL>")
    #expect(cdf.map(\.url.absoluteString) == ["https://example.com/1.gif"])
    // Essential Feed JSON whose text mentions JSON Feed isn't a JSON Feed.
    let item = #"{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "image": "http://a/1", "location": "rss"}"#
    #expect(try images("{\"items\": [\(item)]}").map(\.location) == ["rss"])
  }

  @Test func `the media type's charset is used for bytes that aren't UTF-8`() throws {
    let body =
      Data("<rss><channel><item><title>".utf8) + [0xE9]
      + Data("t</title><enclosure url='http://e.com/a.png' type='image/png'/></item></channel></rss>".utf8)
    let document = WebDocument(body: body, type: "text/xml; a=b; Charset=\"ISO-8859-2\"", url: url)
    #expect(try [any FeedFormat].web.images(of: document).map(\.description) == ["ét"])
  }

  @Test(arguments: [
    ("<html><body>Log in</body></html>", InvalidData.webPage), ("", .empty), ("words", .notAFeed),
    ("<svg xmlns='http://www.w3.org/2000/svg'/>", .notAFeed),
    ("<rss \(String(repeating: "a='' ", count: 300))>", .tooMuch(of: "attributes in a tag", limit: 256)),
  ])
  func `a document that isn't a feed fails with a readable error`(text: String, error: InvalidData) {
    #expect(throws: error) { try images(text) }
    #expect("\(error)".hasPrefix("The server"))
  }

  @Test func `the first format that recognizes a document reads it`() throws {
    struct Lines: FeedFormat {
      func recognizes(_ document: WebDocument) -> Bool { document.body.starts(with: Data("#lines\n".utf8)) }

      func images(of document: WebDocument, within limits: FeedLimits) throws(InvalidData) -> FeedImages {
        let lines = String(decoding: document.body, as: UTF8.self).split(separator: "\n").dropFirst()
        return FeedImages(
          lines.map { FeedImage(id: .init(name: String($0), in: document.url), url: URL(string: String($0))!) })
      }
    }
    let formats = [Lines()] + [any FeedFormat].web
    let lines = WebDocument(body: Data("#lines\nhttp://a/1\nhttp://a/2\n".utf8), url: url)
    #expect(try formats.images(of: lines).map(\.url.absoluteString) == ["http://a/1", "http://a/2"])
    let other = WebDocument(body: Data(#"{"items": []}"#.utf8), url: url)
    #expect(try formats.images(of: other) == [])
  }
}
