import Foundation
import RedisTestSupport
import TestSupport
import Testing

@testable import feed

/// Each command's JSON has the shape that `docs/schema` promises.
@Suite(.settled) struct SchemaTests {
  /// A feed with every field: posts, alternative texts, several images, a place, and unusual characters.
  static func rich(_ numbers: ClosedRange<Int>) -> Data {
    let items = numbers.map { number in
      """
      {"id": "\(number)", "title": "Post \(number) \\"é\\"", "url": "https://blog.example/\(number)",
       "content_html": "<p>Harbour \(number). More.</p><img src='/\(number).jpg' alt='Boat \(number)'><img src='/b.jpg'>",
       "date_published": "2026-03-0\(number % 9 + 1)T12:00:00Z"}
      """
    }
    return Data(
      """
      {"version": "https://jsonfeed.org/version/1.1", "title": "Blog", "items": [\(items.joined(separator: ","))]}
      """.utf8)
  }

  @Test func `the JSON of load, watch, search and star matches docs/schema, for one feed and for many`() async throws {
    let (feeds, items) = (try JSONSchema(named: "feed"), try JSONSchema(named: "item"))
    try await withOrigin(serving: Self.rich(1...3)) { origin, url, cache in
      let json = ["--cache", cache, "--format", "json"]
      let one = try feeds.check(lines: try await FeedBinary.run(["load", url] + json).output)
      #expect(one.count == 1 && (one[0]["feed"] as? [Any])?.count == 3)
      let many = try feeds.check(
        lines: try await FeedBinary.run(["load", url, "http://127.0.0.1:1/"] + json).output)
      #expect(many.count == 2 && many[1]["error"] != nil)
      let link = "https://blog.example/1"
      #expect(
        try await FeedBinary.run(["star", link, "--offline", "--cache", cache]).output == "Starred Post 1 \"é\"\n")
      await origin.setAnswer(body: Self.rich(2...4))
      let watched = try await RunningFeed(["watch", url, "--every", "50ms", "--count", "1"] + json).ending()
      #expect(try feeds.check(lines: watched.output).count == 1)
      await origin.setAnswer(body: Self.rich(3...5))
      let new = try await RunningFeed(["watch", url, "--every", "50ms", "--new", "--count", "1"] + json).ending()
      let marked = try #require(try feeds.check(lines: new.output).first?["feed"] as? [[String: Any]])
      #expect(marked.map { $0["title"] as? String } == ["Post 5 \"é\""] && marked[0]["new"] as? Bool == true)
      let found = try items.check(lines: try await FeedBinary.run(["search", "harbour"] + json).output)
      #expect(found.compactMap { $0["link"] as? String } == [5, 4, 3, 2, 1].map { "https://blog.example/\($0)" })
      #expect(found.map { $0["starred"] as? Bool } == [nil, nil, nil, nil, true])
      let stars = try items.check(lines: try await FeedBinary.run(["star"] + json).output)
      #expect(stars.map { $0["link"] as? String } == [link])
      let shell = try await RunningFeed(
        ["watch", url, "--every", "50ms", "--exec", "cat", "--count", "1", "--cache", cache + ".other"]
      ).ending()
      #expect(try items.check(lines: shell.output).count == 3)
      await origin.stop()
      let saved = try feeds.check(lines: try await FeedBinary.run(["load", url] + json).output)
      #expect(saved.first?["origin"] as? String == "cache")
    }
  }

  @Test func `the JSON of explain and inspect matches docs/schema`() async throws {
    try await withOrigin(serving: Self.rich(1...3)) { _, url, cache in
      let inspected = try JSONSchema(named: "inspect").check(
        lines: try await FeedBinary.run(["inspect", url, "--format", "json"]).output)
      #expect(inspected.count == 1)
      let watch = try RunningFeed(["watch", url, "--every", "1h", "--cache", cache, "--count", "1"])
      _ = await watch.ending()
      let explained = try JSONSchema(named: "explain").check(
        lines: try await FeedBinary.run(["explain", url, "--cache", cache, "--format", "json"]).output)
      #expect(explained.first?["saved"] != nil)
    }
  }

  @Test func `the JSON of subscriptions list matches docs/schema`() async throws {
    try await withFolder { folder in
      let list = folder.appendingPathComponent("list.opml")
      try Data(
        """
        <opml version="2.0" xmlns:feed="urn:feedstream:subscription"><body><outline text="News"><outline text="&quot;Space&quot;">
        <outline text="Blog \\ &lt;é&gt;" xmlUrl="http://a.example/feed" feed:interval="15m" feed:user="me:secret"/>
        </outline></outline><outline xmlUrl="http://b.example/"/></body></opml>
        """.utf8
      ).write(to: list)
      let run = try await FeedBinary.run(["subscriptions", "list", "--format", "json", "--opml", list.path])
      let lines = try JSONSchema(named: "subscriptions").check(lines: run.output)
      #expect(lines.map { $0["url"] as? String } == ["http://a.example/feed", "http://b.example/"])
      #expect(lines[0]["folders"] as? [String] == ["News", "\"Space\""] && lines[0]["every"] as? String == "15m")
      #expect(lines[0]["title"] as? String == "Blog \\ <é>" && !run.output.contains("secret"))
      #expect(lines[1].count == 2)
    }
  }

  @Test func `the schemas reject wrong versions, missing members and unknown members`() throws {
    let (feed, item) = (try JSONSchema(named: "feed"), try JSONSchema(named: "item"))
    for line in [
      "{}", #"{"version":2,"url":"u","title":"t","origin":"remote","feed":[]}"#,
      #"{"version":1,"url":"u","title":"t","origin":"elsewhere","feed":[]}"#,
      #"{"version":1,"url":"u","title":"t","origin":"remote","feed":[{"id":"1","url":"u","images":[]}]}"#,
      #"{"version":1,"url":"u","error":{"server":"","cache":""}}"#,
      #"{"version":1,"url":"u","title":"t","origin":"remote","feed":[],"more":1}"#,
    ] {
      #expect(throws: JSONSchema.Violation.self) { try feed.check(lines: line) }
      #expect(throws: JSONSchema.Violation.self) { try item.check(lines: line) }
    }
    try feed.check(lines: #"{"version":1,"url":"u","title":"t","origin":"remote","feed":[]}"#)
  }
}
