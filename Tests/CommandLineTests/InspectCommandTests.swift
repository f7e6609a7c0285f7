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

  @Test func `json has each item with its pictures, where each was found, and which is shown`() async throws {
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

  @Test func `text says which picture is shown, and of an item without one that it has none`() async throws {
    try await withFolder { folder in
      let file = folder.appending(path: "feed.xml")
      try Data(Self.rss.replacing("/a.jpg", with: "http://a/a.jpg").utf8).write(to: file)
      let run = try await FeedBinary.run(["inspect", file.path])
      #expect(run.status == 0)
      #expect(run.output.hasPrefix("RSS 2.0, UTF-8\ntitle     Harbours & seas"))
      #expect(run.output.contains("shown: http://a/a.jpg (media:content, 800×600 pixels)"))
      #expect(run.output.contains("none: the item names no picture"))
      let missing = try await FeedBinary.run(["inspect", file.path + "x"])
      #expect(missing.status == 1 && missing.errors.contains("cannot be read"))
    }
  }

  @Test func `of a page it lists the feeds`() async throws {
    try await withOrigin(serving: Self.page("/one.xml", "http://b/two.xml", "/one.xml")) { _, url, _ in
      let base = url.replacing("/feed.json", with: "")
      let run = try await FeedBinary.run(["inspect", url])
      #expect(run.status == 0)
      #expect(
        run.output == """
          A web page that names 2 feeds:
            \(base)/one.xml  A & B  application/rss+xml
            http://b/two.xml  A & B  application/rss+xml

          """)
    }
  }

  @Test func `load follows the one feed of a page, and names it`() async throws {
    try await withOrigin(serving: Data(Self.rss.utf8)) { feed, feedURL, cache in
      let page = try LoopbackOrigin(serving: Self.page(feedURL))
      let url = try await page.start().absoluteString
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0)
      #expect(run.errors == "A web page; its feed is \(feedURL) (A & B)\n")
      #expect(run.output.hasPrefix("1 image from \(url)\n"))
      await page.stop()
      await feed.stop()
      #expect(try await FeedBinary.run(["load", url, "--cache", cache]).output.hasPrefix("1 image saved "))
    }
  }

  @Test func `load lists the feeds of a page that names several, and calls one that names none a page`() async throws {
    try await withOrigin(serving: Self.page("/one.xml", "/two.xml")) { origin, url, cache in
      let base = url.replacing("/feed.json", with: "")
      let several = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(several.status == 1)
      #expect(several.errors.contains("try:    feed load \(base)/one.xml\n          feed load \(base)/two.xml\n"))
      await origin.setAnswer(body: Self.page())
      let none = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(none.status == 1 && none.errors.contains("sent a web page where a feed was expected"))
    }
  }
}
