import Foundation
import TestSupport
import Testing

@testable import feed

/// `feed inspect`, and pages that name feeds.
@Suite(.settled) struct InspectCommandTests {
  private static let rss = """
    <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>Harbours & seas\u{202E}</title>
    <item><guid>1</guid><title>One</title><pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate>
    <media:content url="/a.jpg" width="800" height="600" medium="image"/>
    <description>&lt;img src="/b.png"&gt;</description></item><item><title>Words</title></item></channel></rss>
    """

  private struct Answer: Decodable {
    struct Item: Decodable {
      struct Image: Decodable {
        let url: String
        let from: String
        let width: Int?
      }
      let id: String
      let guid: String?
      let title: String?
      let published: String?
      let images: [Image]
      let chosen: String?
    }
    let format: String
    let encoding: String
    let title: String?
    let repairs: [String]
    let items: [Item]
  }

  private static func page(_ links: String...) -> Data {
    let elements = links.map { "<LINK rel='alternate' type=application/rss+xml title=\"A &amp; B\" href=\"\($0)\">" }
    return Data("<!DOCTYPE html><html><head>\(elements.joined())</head><body>Hello</body></html>".utf8)
  }

  @Test func `inspect's JSON has each item with its images, their sources, and the image that is shown`() async throws {
    try await withOrigin(serving: Data(Self.rss.utf8)) { _, url, _ in
      let run = try await FeedBinary.run(["inspect", url, "--format", "json"])
      #expect(run.status == 0)
      #expect(run.output.split(separator: "\n").count == 1 && run.output.contains("seas\\u202E"))
      let answer = try JSONDecoder().decode(Answer.self, from: Data(run.output.utf8))
      #expect(answer.format == "RSS 2.0" && answer.encoding == "UTF-8" && answer.title == "Harbours & seas\u{202E}")
      #expect(answer.repairs.count == 1)
      #expect(answer.items.map(\.title) == ["One", "Words"])
      let one = try #require(answer.items.first)
      #expect(one.images.map(\.from) == ["media:content", "summary"] && one.images[0].width == 800)
      #expect(one.chosen == one.images[0].url && one.chosen?.hasSuffix("/a.jpg") == true)
      #expect(one.published == "1994-11-06T08:49:37Z" && one.guid == "1" && one.id.count == 36)
      #expect(answer.items[1].images.isEmpty && answer.items[1].chosen == nil)
    }
  }

  @Test(arguments: [["load"], ["load", "--format", "json"], ["inspect"], ["inspect", "--format", "json"]])
  func `the password in a feed's URL isn't shown with the relative URLs of its items or of a page`(
    command: [String]
  ) async throws {
    let item = "<item><guid>1</guid><link>/post</link><enclosure url=\"/a.jpg\" type=\"image/jpeg\"/></item>"
    let feed = Data("<rss version=\"2.0\"><channel>\(item)</channel></rss>".utf8)
    for body in [feed, Self.page("/1.xml", "/2.xml")] {
      try await withOrigin(serving: body) { _, url, cache in
        let secret = url.replacing("http://", with: "http://ann:secret@")
        let load = command[0] == "load" ? ["--cache", cache] : []
        let run = try await FeedBinary.run([command[0], secret] + load + command.dropFirst())
        #expect((run.output + run.errors).contains(body == feed ? "/a.jpg" : "/2.xml"), "\(run)")
        #expect(!(run.output + run.errors).contains("secret"), "\(run)")
        guard body != feed else { return }
        // The page's links can be copied: an ellipsis isn't the password.
        let link = url.replacing("/feed.json", with: "/2.xml")
        let isHint = command == ["load"]
        #expect((run.output + run.errors).contains(isHint ? "feed load \(link) --user name:password" : link), "\(run)")
      }
    }
  }

  @Test func `inspect's text marks the image that is shown, or says that an item has none`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "feed.xml")
      try Data(Self.rss.replacing("/a.jpg", with: "http://a/a.jpg").utf8).write(to: file)
      let run = try await FeedBinary.run(["inspect", file.path])
      #expect(run.status == 0)
      #expect(run.output.hasPrefix("RSS 2.0, UTF-8\ntitle     Harbours & seas"))
      #expect(run.output.contains("shown: http://a/a.jpg (media:content, 800×600 pixels)"))
      #expect(run.output.contains("none: neither the item nor its text refers to an image"))
      let missing = try await FeedBinary.run(["inspect", file.path + "x"])
      #expect(missing.status == 1 && missing.errors.contains("cannot read"))
      #expect(!missing.errors.contains("URL"))
      let input = try await FeedBinary.shell("exec \"$FEED\" inspect - <\(file.path)")
      // Without a guid or a link, an item's id depends on the file.
      func text(_ output: String) -> [Substring] { output.split(separator: "\n").filter { !$0.hasPrefix("   id  ") } }
      #expect(input.status == 0 && text(input.output) == text(run.output), "\(input.errors)")
    }
  }

  @Test func `inspect of a URL without a scheme suggests the URL`() async throws {
    let run = try await FeedBinary.run(["inspect", "no.example/feed.xml"])
    #expect(run.status == 1)
    #expect(run.errors.contains("If it is a URL, write https://no.example/feed.xml"), "\(run.errors)")
  }

  @Test func `inspect's JSON has exactly the documented members`() async throws {
    let all = """
      <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:georss="http://www.georss.org/georss"
      xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
      <title>T</title><link>http://e.com/</link><ttl>5</ttl><atom:link rel="next" href="http://e.com/2"/>
      <item><guid>1</guid><title>One</title><link>http://e.com/1</link><pubDate>Sun, 06 Nov 1994 08:49:37 GMT</pubDate>
      <description>S</description><content:encoded>C</content:encoded><georss:point>1 2</georss:point>
      <media:content url="http://e.com/a.jpg" width="8" height="6" type="image/jpeg"/></item><item/></channel></rss>
      """
    try await withFolder { folder in
      let file = folder.appending(path: "feed.xml")
      func inspected(_ text: String) async throws -> [String: Any] {
        try Data(text.utf8).write(to: file)
        let run = try await FeedBinary.run(["inspect", file.path, "--format", "json"])
        return try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
      }
      let full = try await inspected(all)
      #expect(full.keys.sorted() == ["encoding", "format", "items", "link", "repairs", "title"])
      let items = try #require(full["items"] as? [[String: Any]])
      let names = ["chosen", "content", "guid", "id", "images", "link", "location", "published", "summary", "title"]
      #expect(items[0].keys.sorted() == names && items[1].keys.sorted() == ["id", "images"])
      let image = try #require((items[0]["images"] as? [[String: Any]])?.first)
      #expect(image.keys.sorted() == ["from", "height", "type", "url", "width"])
      #expect(image["width"] as? Int == 8 && full["repairs"] as? [String] == [])
      let bare = try await inspected("<rss><channel><item><enclosure url='http://e.com/a.png'/></item></channel></rss>")
      #expect(bare.keys.sorted() == ["encoding", "format", "items", "repairs"])
      let item = try #require((bare["items"] as? [[String: Any]])?.first)
      #expect(item.keys.sorted() == ["chosen", "id", "images"])
      #expect((item["images"] as? [[String: Any]])?.first?.keys.sorted() == ["from", "url"])
    }
  }

  @Test func `an error in a local file mentions the file, not a server`() async throws {
    try await withFolder { folder in
      func errors(_ text: String, _ arguments: [String] = ["inspect"], name: String = "x") async throws -> String {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        let run = try await FeedBinary.run(arguments + [file.path])
        #expect(run.status != 0 && run.output == "" && !run.errors.contains("server"))
        return run.errors.replacing(file.path, with: "FILE")
      }
      #expect(try await errors("").contains("FILE is empty."))
      #expect(try await errors("words").contains("FILE is not a feed: it is not RSS"))
      #expect(try await errors("<html><body>Hi</body></html>").contains("is a web page that doesn't link to a feed."))
      #expect(try await errors("{\"a\":").contains("FILE is not JSON ("))
      let list = "<opml><body><outline xmlUrl='http://e.com/'/></body></opml>"
      let uses =
        "\"feed load --opml FILE\" shows its feeds, and \"feed subscriptions import FILE\" adds them to your list."
      #expect(try await errors(list).contains("FILE is a list of feeds (OPML), not a feed. \(uses)"))
      // A list where a feed is expected, and the reverse.
      #expect(try await errors(list, ["load"]).contains("FILE is a list of feeds: \(uses)"))
      #expect(try await errors(list, ["load"], name: "a.opml").contains("FILE is a list of feeds: \(uses)"))
      #expect(try await errors(Self.rss, ["load"]).contains("FILE is a file: \"feed inspect FILE\" shows"))
      for arguments in [["load", "--opml"], ["subscriptions", "import"]] {
        #expect(try await errors(Self.rss, arguments).contains("FILE is a feed (RSS 2.0), not a list of feeds (OPML)."))
        let address = try await FeedBinary.run(arguments + ["http://e.com/list.opml"])
        #expect(
          address.status == 64
            && address.errors.contains("A list of feeds must be a file, but http://e.com/list.opml is a URL"))
      }
    }
  }

  @Test func `an OPML list from a server is reported as a list, with a hint`() async throws {
    let list = "<opml><body><outline xmlUrl='http://e.com/'/></body></opml>"
    try await withOrigin(serving: Data(list.utf8)) { _, url, cache in
      let loaded = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(loaded.status == 1 && loaded.errors.contains("server: The server's response is a list of feeds (OPML)"))
      #expect(loaded.errors.contains("hint: save the list as a file; then run \"feed load --opml <file>\""))
      let inspected = try await FeedBinary.run(["inspect", url])
      #expect(inspected.errors.contains("is a list of feeds (OPML), not a feed. Save it as a file; then"))
      #expect(inspected.errors.hasSuffix("hint: \"feed get --include \(url) | less\" shows what the server sends\n"))
    }
  }

  @Test func `inspect lists the feeds of a page`() async throws {
    try await withOrigin(serving: Self.page("/one.xml", "http://b/two.xml", "/one.xml")) { _, url, _ in
      let base = url.replacing("/feed.json", with: "")
      let run = try await FeedBinary.run(["inspect", url])
      #expect(run.status == 0)
      #expect(
        run.output == """
          A web page that links to 2 feeds:
            \(base)/one.xml  A & B  application/rss+xml
            http://b/two.xml  A & B  application/rss+xml

          """)
    }
  }

  @Test func `load follows a page's only feed, and names it`() async throws {
    try await withOrigin(serving: Data(Self.rss.utf8)) { feed, feedURL, cache in
      let page = try LoopbackOrigin(serving: Self.page(feedURL))
      let url = try await page.start().absoluteString
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0)
      #expect(run.errors == "\(url) is a web page; its feed is \(feedURL) (A & B)\n")
      #expect(run.output.hasPrefix("1 image from Harbours & seas\\u{202E} (\(url))\n"))
      await page.stop()
      await feed.stop()
      #expect(try await FeedBinary.run(["load", url, "--cache", cache]).output.contains("(\(url)), saved "))
    }
  }

  @Test func `load lists the feeds of a page with several, and reports a page without any`() async throws {
    try await withOrigin(serving: Self.page("/one.xml", "/two.xml")) { origin, url, cache in
      let base = url.replacing("/feed.json", with: "")
      let several = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(several.status == 1)
      #expect(several.errors.contains("hint: choose one:\n  feed load \(base)/one.xml\n  feed load \(base)/two.xml\n"))
      // The commands have the same options for the page's own server, without their secrets.
      await origin.setAnswer(body: Self.page("/one.xml", "http://b/two.xml"))
      for command in [["load"], ["subscriptions", "add", "--opml", cache + ".opml"]] {
        let run = try await FeedBinary.run(command + [url, "--user", "ann:secret", "--cache", cache])
        let words = "feed " + command.joined(separator: " ")
        let lines = "  \(words) \(base)/one.xml --user name:password\n  \(words) http://b/two.xml\n"
        #expect(run.errors.contains("hint: choose one:\n" + lines), "\(run)")
      }
      await origin.setAnswer(
        body: Self.page("/one.xml?a=1&amp;b=$(id)", "/it's;id", #"/?\';id;"#, "/x\u{202E}", "/'\u{301};id"))
      for command in [["load"], ["subscriptions", "add", "--opml", cache + ".opml"]] {
        let hostile = try await FeedBinary.run(command + [url, "--cache", cache]).errors
        let words = command.joined(separator: " ")
        // In fish, a backslash before a quote would end the quoting.
        let paths = ["one.xml?a=1&b=$(id)", #"it'\''s;id"#, #"?'\\''\'';id;"#, #"x'\\'u{202E}"#, "'\\''\u{301};id"]
        let lines = paths.map { "  feed \(words) '\(base)/\($0)'\n" }
        let expected = Data(("choose one:\n" + lines.joined()).utf8)
        #expect(Data(hostile.utf8).range(of: expected) != nil, "\(hostile)")
      }
      await origin.setAnswer(body: Self.page())
      let none = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(none.status == 1 && none.errors.contains("sent a web page where a feed was expected"))
      #expect(none.errors.contains("hint: run \"feed get --include \(url) | less\" to see what the server sends"))
    }
  }
}
