import Foundation
import TestSupport
import Testing

@testable import feed

/// The pages of former items, of stars, of search results, and of a single feed.
@Suite(.settled, .timeLimit(.minutes(5))) struct ServeHistoryTests {
  /// Calls `body` with a page of a feed that lists the posts 4 to 6, and formerly listed 1 to 3.
  private func withPage(_ body: (_ port: Int, _ origin: LoopbackOrigin, _ cache: String) async throws -> Void)
    async throws
  {
    try await withOrigin(serving: SchemaTests.rich(1...3)) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(body: SchemaTests.rich(4...6))
      let run = try RunningFeed(["serve", "--port", "0", "--every", "50ms", "--cache", cache, url])
      let number = try port(of: try #require(await run.output.line()))
      try await wait(while: try await !get(number, "/").contains("Post 6"))
      do { try await body(number, origin, cache) } catch { Issue.record(error) }
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  private func posts(_ page: String) -> [Int] {
    page.matches(of: /href="https:\/\/blog\.example\/(\d+)"/).compactMap { Int($0.1) }
  }

  @Test func `the page links to posts, and continues with the feed's history after the current items`() async throws {
    try await withPage { port, _, _ in
      let page = try await get(port, "/")
      #expect(posts(page) == [6, 5, 4])
      #expect(page.contains("href=\"/?past=1\">Former items</a>") && page.contains("form-action 'self'"))
      #expect(page.contains("alt=\"Boat 6\""))
      let past = try await get(port, "/?past=1")
      #expect(posts(past) == [3, 2, 1])
      let image = try #require(past.firstMatch(of: /href="(\/image\/[^?"]+)/)?.1)
      #expect(try await !get(port, String(image)).hasPrefix("HTTP/1.1 404"), "a past image is requested")
      let feed = try await get(port, "/feed.json")
      #expect(feed.contains(#""url":"https:\/\/blog.example\/6""#) || feed.contains(#""url":"https://blog.example/6""#))
      #expect(!feed.contains("external_url"))
      #expect(try await get(port, "/feed.atom").contains("<link href=\"https://blog.example/6\"/>"))
    }
  }

  @Test func `search finds words in current and former items`() async throws {
    try await withPage { port, _, _ in
      #expect(posts(try await get(port, "/?q=harbour")) == [6, 5, 4, 3, 2, 1])
      #expect(posts(try await get(port, "/?q=harbour%202")) == [2])
      #expect(posts(try await get(port, "/?q=harb&past=1")) == [3, 2, 1])
      let nothing = try await get(port, "/?q=%3Cq%3E")
      #expect(nothing.contains("No matches.") && nothing.contains("value=\"&lt;q&gt;\""))
      #expect(posts(try await get(port, "/?feed=0")).count == 6)
      let link = try #require(try await get(port, "/").firstMatch(of: /class="source" href="(\/feed\/[a-z0-9-]+)"/)?.1)
      #expect(posts(try await get(port, String(link))).count == 6, "each feed has a page of its own")
      for place in ["/feed/unheard-of", "/?feed=7"] {
        let unknown = try await get(port, place)
        #expect(unknown.hasPrefix("HTTP/1.1 404") && unknown.contains("No matches.") && posts(unknown) == [])
      }
      let name = try #require(
        try await get(port, String(link)).firstMatch(of: /href="\/feed\.json\?feed=(_[a-z0-9]+)"/)?.1)
      #expect(posts(try await get(port, "/?feed=\(name)")).count == 6)
      for place in [String(link), "/?feed=0"] {
        let page = try await get(port, place)
        for path in ["/feed.json", "/feed.atom", "/slideshow"] {
          #expect(page.contains("href=\"\(path)?feed=\(name)\""), "its title and number may change")
        }
      }
    }
  }

  @Test func `a star can be set by the page, and not by a page of another site`() async throws {
    try await withPage { port, origin, cache in
      let page = try await get(port, "/?past=1")
      let card = String(try #require(page.firstMatch(of: /class="star" form="stars" name="card" value="([^"]+)"/)?.1))
      func post(_ card: String, _ fields: String, on: Int = 1) async throws -> String {
        try await ask(
          port,
          "POST /star?card=\(card)&on=\(on) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 0\r\n"
            + "Connection: close\r\n\(fields)\r\n")
      }
      #expect(try await post(card, "").hasPrefix("HTTP/1.1 403"))
      #expect(try await post("none", "X-Feed: star\r\n").hasPrefix("HTTP/1.1 404"))
      #expect(try await post(card, "X-Feed: star\r\n").hasPrefix("HTTP/1.1 200"))
      #expect(posts(try await get(port, "/?starred=1")) == [3])
      #expect(try await get(port, "/?starred=1").contains("aria-pressed=\"true\""))
      #expect(try await FeedBinary.run(["star", "--cache", cache]).output.contains("Post 3"))
      #expect(try await post(card, "X-Feed: star\r\n", on: 0).hasPrefix("HTTP/1.1 200"))
      #expect(posts(try await get(port, "/?starred=1")) == [])
    }
  }

  @Test func `without JavaScript, a star is a form that no page of another site can submit`() async throws {
    try await withPage { port, _, _ in
      let page = try await get(port, "/?past=1")
      let card = String(try #require(page.firstMatch(of: /name="card" value="([^"]+)"/)?.1))
      let key = String(try #require(page.firstMatch(of: /name="key" value="([^"]+)"/)?.1))
      #expect(page.contains("name=\"back\" value=\"/?past=1\""))
      for place in ["/?from=1&after=none", "/feed/blog"] {
        let page = try await get(port, place)
        #expect(page.contains("name=\"back\" value=\"\(place.replacing("&", with: "&amp;"))\""))
      }
      func post(_ key: String, back: String = "/?past=1") async throws -> String {
        let form = "key=\(key)&card=\(card)&back=\(back.replacing("?", with: "%3F").replacing("=", with: "%3D"))"
        return try await ask(
          port,
          "POST /star HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/x-www-form-urlencoded\r\n"
            + "Content-Length: \(form.utf8.count)\r\nConnection: close\r\n\r\n\(form)")
      }
      #expect(try await post("00").hasPrefix("HTTP/1.1 403"))
      for elsewhere in ["//evil.example/", "https://evil.example/", "/\\evil.example"] {
        #expect(try await post(key, back: elsewhere).hasPrefix("HTTP/1.1 403"), "\(elsewhere)")
      }
      let answer = try await post(key)
      #expect(answer.hasPrefix("HTTP/1.1 303") && answer.contains("Location: /?past=1#p\(card)\r\n"))
      #expect(posts(try await get(port, "/?starred=1")) == [3])
      #expect(try await post(key).hasPrefix("HTTP/1.1 303"), "and takes it away again")
      #expect(posts(try await get(port, "/?starred=1")) == [])
    }
  }

  @Test func `items that are new since the last visit are marked`() async throws {
    try await withPage { port, origin, _ in
      #expect(try await !get(port, "/").contains("class=\"fresh\""), "nothing is new at the first visit")
      await origin.setAnswer(body: SchemaTests.rich(4...7))
      try await wait(while: try await !get(port, "/").contains("Post 7"))
      #expect(try await get(port, "/").components(separatedBy: "class=\"fresh\"").count == 2)
    }
  }

  @Test func `new items that don't fit on one page are on the next one`() async throws {
    try await withPage { port, origin, _ in
      await origin.setAnswer(body: SchemaTests.rich(4...70))
      try await wait(while: try await !get(port, "/").contains("Post 70"))
      for path in ["/?new=1", "/?new=1&q=harbour"] {
        let first = try await get(port, path)
        let link = try #require(first.firstMatch(of: /id="more" rel="next" href="([^"]+)"/)?.1)
        let rest = try await get(port, String(link).replacing("&amp;", with: "&"))
        #expect(posts(first).count == 60 && posts(rest).count == 4, "\(path)")
        #expect(Set(posts(first) + posts(rest)) == Set(7...70), "\(path)")
        #expect(!rest.contains("id=\"more\""), "\(path)")
      }
    }
  }

  @Test func `a folder, new items and starred items can be selected, on the page and in the served feeds`() async throws
  {
    try await withOrigin(serving: SchemaTests.rich(4...6)) { origin, url, cache in
      let list = cache + ".opml"
      func feed(_ name: String) -> String { "<outline text=\"\(name)\" xmlUrl=\"\(url)?\(name)\"/>" }
      try Data(
        """
        <opml version="2.0"><body><outline text="Sea"><outline text="Ships &amp; more">\(feed("tall"))</outline>\
        \(feed("deep"))</outline>\(feed("loose"))</body></opml>
        """.utf8
      ).write(to: URL(fileURLWithPath: list))
      let run = try RunningFeed(["serve", "--port", "0", "--every", "50ms", "--cache", cache, "--opml", list])
      let number = try port(of: try #require(await run.output.line()))
      try await wait(while: try await posts(get(number, "/")).count < 9)
      let page = try await get(number, "/?folder=sea")
      #expect(posts(page).sorted() == [4, 4, 5, 5, 6, 6])
      #expect(page.contains("<title>sea · feed</title>"))
      #expect(page.contains("<a href=\"/?folder=Sea\" aria-current=\"true\"><bdi>Sea</bdi></a>"))
      let within = "/?folder=Sea%20/%20Ships%20%26%20more"
      #expect(
        page.contains("<a href=\"\(within.replacing("&", with: "&amp;"))\"><bdi>Sea / Ships &amp; more</bdi></a>"))
      #expect(page.contains("<input type=\"hidden\" name=\"folder\" value=\"sea\">"))
      #expect(posts(try await get(number, within)) == [6, 5, 4])
      #expect(posts(try await get(number, within + "&q=harbour%205")) == [5])
      #expect(posts(try await get(number, "/?folder=land")) == [])
      #expect(posts(try await get(number, "/?new=1")) == [], "nothing is new at the first visit")
      await origin.setAnswer(body: SchemaTests.rich(4...7))
      try await wait(while: try await posts(get(number, "/")).count < 12)
      #expect(posts(try await get(number, "/?new=1")) == [7, 7, 7])
      #expect(posts(try await get(number, "/?new=1&folder=Sea")) == [7, 7])
      #expect(posts(try await get(number, "/?new=1&q=harbour")) == [7, 7, 7])
      #expect(posts(try await get(number, "/?new=1&q=harbour%205")) == [])
      #expect(try await get(number, "/?new=1").contains("<a href=\"/?new=1\" aria-current=\"page\">New</a>"))

      func items(_ path: String) async throws -> [String] {
        let answer = try await get(number, path)
        let body = try #require(answer.range(of: "\r\n\r\n")).upperBound
        let feed = try JSONSerialization.jsonObject(with: Data(answer[body...].utf8)) as? [String: Any]
        #expect((feed?["feed_url"] as? String)?.hasSuffix(path) == true)
        return (feed?["items"] as? [[String: Any]] ?? []).compactMap { $0["url"] as? String }
      }
      #expect(try await items("/feed.json").count == 12)
      #expect(try await items("/feed.json?folder=Sea").count == 8)
      #expect(try await items("/feed.json?new=1&folder=Sea") == ["https://blog.example/7", "https://blog.example/7"])
      #expect(try await items("/feed.json?q=harbour%204").count == 3)
      #expect(try await items("/feed.json?starred=1").isEmpty)
      let atom = try await get(number, "/feed.atom?folder=Sea&new=1")
      #expect(atom.components(separatedBy: "<entry>").count == 3)
      #expect(atom.contains("/feed.atom?new=1&amp;folder=Sea\"/>"))
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }
}
