import Foundation
import Samples
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct LoadCommandTests {
  @Test func `load shows the server's feed and exits with status 0`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0)
      #expect(run.errors == "")
      #expect(
        run.output.hasPrefix("8 images from \(url)\n\n1. Description 1\n   Location 1\n   https://url-1.com\n2. "))
      #expect(run.output.hasSuffix("8. Description 8\n   Location 8\n   https://url-8.com\n"))
      #expect(await origin.requestCount == 1)
    }
  }

  @Test func `load shows the saved feed, its age and the reason when the server is unreachable`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.stop()
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0)
      #expect(run.errors == "")
      #expect(run.output.hasPrefix("8 images from \(url), saved "))
      #expect(run.output.contains(")\nNot the latest: could not connect to 127.0.0.1:"))
      #expect(run.output.contains("\n8. Description 8\n"))
    }
  }

  @Test func `a truncated feed is shown with a warning, and never saved`() async throws {
    let items = (1...3).map {
      "<item><title>Item \($0)</title><enclosure url=\"https://a/\($0).png\" type=\"image/png\"/></item>"
    }
    let document = Data("<rss version=\"2.0\"><channel><title>T</title>\(items.joined())</channel></rss>".utf8)
    try await withOrigin(serving: document.dropLast(20)) { origin, url, cache in
      let part = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(part.status == 0)
      let warning = "Incomplete, and not saved: The server's response is cut off: its end is missing after 3 images.\n"
      #expect(part.output.hasPrefix("3 images from T (\(url))\n\(warning)\n1. Item 1\n"))
      let json = try await FeedBinary.run(["load", url, "--cache", cache, "--format", "json"])
      #expect(json.output.contains(#""origin":"part","reason":"The server's response is cut off"#))
      let none = try await FeedBinary.run(["load", url, "--cache", cache, "--offline"])
      #expect(none.status == 1 && none.output == "")

      await origin.setAnswer(body: document)
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(body: document.prefix(150))
      let saved = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(
        saved.output.hasPrefix("3 images from T (\(url)), saved ")
          && saved.output.contains("Not the latest: The server's response is cut off"))
    }
  }

  @Test func `load's JSON is one line, from the server and from the cache`() async throws {
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      let arguments = ["load", url, "--cache", cache, "--format", "json"]
      let image =
        #"{"id":"73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6","description":"A view","url":"https://url-1.com","#
        + #""images":[{"url":"https://url-1.com"}]}"#
      let head = #"{"version":1,"url":"\#(url)","title":"127.0.0.1","#
      let remote = try await FeedBinary.run(arguments)
      #expect(remote.output == #"\#(head)"origin":"remote","feed":[\#(image)]}"# + "\n")
      await origin.stop()
      let saved = try await FeedBinary.run(arguments)
      let line =
        /\{"version":1,"url":"[^"]+","title":"127.0.0.1","origin":"cache","savedAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ","reason":"could not .+","feed":\[(.+)\]\}\n/
      #expect(try #require(saved.output.wholeMatch(of: line)).1 == image)
      #expect(remote.status == 0 && saved.status == 0)
    }
  }

  @Test func `a document that is cut off before its first image has status 1`() async throws {
    let beginning = "<rss version='2.0'><channel><title>A</title><item><title>B</title></item><item><title>C"
    try await withOrigin(serving: Data(beginning.utf8)) { _, url, cache in
      for format in [[], ["--format", "json"], [url + "?2"]] {
        let run = try await FeedBinary.run(["load", url, "--cache", cache] + format)
        #expect(run.status == 1 && run.output.contains("The server's response is cut off"), "\(run.output)")
      }
    }
  }

  @Test func `the JSON of a feed that can't be shown has the error and a hint`() async throws {
    try await withOrigin(serving: Data()) { origin, url, cache in
      await origin.setAnswer(status: 500, body: Data())
      let run = try await FeedBinary.run(["load", url, "--cache", cache, "--format", "json"])
      #expect(run.status == 1)
      let line = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
      #expect(line["version"] as? Int == 1 && line["url"] as? String == url && line["feed"] == nil)
      let error = try #require(line["error"] as? [String: String])
      #expect(error["server"]?.contains("status 500") == true)
      #expect(error["cache"] == "nothing is saved for this URL")
      #expect(error["hint"] == "retry later")
      #expect(run.errors.hasPrefix("feed: no feed to show for \(url)\n"))
    }
  }

  @Test func `an expired feed isn't shown, and the message compares its age with the maximum`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.stop()
      let run = try await FeedBinary.run(["load", url, "--cache", cache, "--max-age", "1ms"])
      #expect(run.status == 1)
      #expect(run.output == "")
      #expect(run.errors.contains("server: could not connect to 127.0.0.1:"))
      #expect(run.errors.contains("has expired (--max-age 1ms)\n"))
      #expect(run.errors.contains("hint: use a longer --max-age"))
      let again = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(again.status == 0)
      #expect(again.output.hasPrefix("8 images from \(url), saved "))
    }
  }

  @Test func `--offline shows the saved feed and makes no request`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      let arguments = ["load", url, "--cache", cache, "--offline"]
      let none = try await FeedBinary.run(arguments)
      #expect(none.status == 1 && none.output == "")
      #expect(none.errors.contains("  server: not requested\n  cache:  nothing is saved for this URL\n"))
      #expect(none.errors.contains("hint: leave out --offline "))
      #expect(await origin.requestCount == 0)
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      let run = try await FeedBinary.run(arguments)
      #expect(run.status == 0 && run.errors == "")
      #expect(run.output.hasPrefix("8 images from \(url), saved "))
      #expect(run.output.contains(")\nNo request was made.\n\n1. Description 1\n"))
      let json = try await FeedBinary.run(arguments + ["--format", "json"])
      #expect(json.output.contains(#""reason":"No request was made.","feed""#))
      let several = try await FeedBinary.run(arguments + ["\(url)?other"])
      #expect(several.status == 0)
      #expect(several.output.contains("8 images from 1 feed\nFrom the cache: 127.0.0.1, saved "))
      #expect(several.errors.contains("other: No request was made. No feed is saved for this URL.\n"))
      #expect(await origin.requestCount == 1)
    }
  }

  @Test func `--refresh shows only the server's feed`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      let arguments = ["load", url, "--cache", cache, "--refresh"]
      #expect(try await FeedBinary.run(arguments).output.hasPrefix("8 images from \(url)\n"))
      await origin.stop()
      let run = try await FeedBinary.run(arguments)
      #expect(run.status == 1 && run.output == "")
      #expect(run.errors.contains("cache:  not used (--refresh); it has a feed saved "))
      #expect(run.errors.contains("hint: leave out --refresh to show the saved feed\n"))
    }
  }

  @Test func `--prefer-cache makes a request only without a saved feed`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      let arguments = ["load", url, "--cache", cache, "--prefer-cache"]
      #expect(try await FeedBinary.run(arguments).output.hasPrefix("8 images from \(url)\n"))
      #expect(try await FeedBinary.run(arguments).output.hasPrefix("8 images from \(url), saved "))
      #expect(await origin.requestCount == 1)
      #expect(try await FeedBinary.run(arguments + ["--max-age", "1ms"]).output.hasPrefix("8 images from \(url)\n"))
      #expect(await origin.requestCount == 2)
      let both = try await FeedBinary.run(arguments + ["--offline"])
      #expect(both.status == 64)
    }
  }

  @Test func `an expired feed is kept when its server fails, and a longer --max-age shows it`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.stop()
      try age(cache, by: 604_800)
      for choice in [[], ["--prefer-cache"], ["--offline"]] {
        let run = try await FeedBinary.run(["load", url, "--cache", cache] + choice)
        #expect(run.status == 1)
        #expect(run.errors.contains("the feed saved 7 days ago has expired (--max-age 7d)\n"))
        #expect(run.errors.contains("hint: use a longer --max-age, or \"none\", to show the saved feed\n"))
      }
      let again = try await FeedBinary.run(["load", url, "--cache", cache, "--max-age", "none"])
      #expect(again.status == 0)
      #expect(again.output.hasPrefix("8 images from \(url), saved 7 days ago "))
    }
  }

  @Test func `a URL without a command is loaded`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { _, url, cache in
      let run = try await FeedBinary.run([url, "--cache", cache])
      #expect(run.status == 0)
      #expect(run.output.hasPrefix("8 images from \(url)\n"))
    }
  }

  @Test func `items without an image are counted in one line`() async throws {
    let items = [
      "<item><title>Sea</title><enclosure url='http://a/s.png' type='image/png'/></item>", "<item/>", "<item/>",
    ]
    try await withOrigin(serving: Data("<rss><channel>\(items.joined())</channel></rss>".utf8)) { _, url, cache in
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(
        run.output == "1 image from \(url)\n2 items have no image and aren't shown\n\n1. Sea\n   http://a/s.png\n")
    }
  }

  @Test func `an unchanged feed reports the number of items without an image too`() async throws {
    let items = "<item><title>Sea</title></item><item/>"
    try await withOrigin(serving: Data("<rss><channel>\(items)</channel></rss>".utf8)) { _, url, cache in
      for _ in 1...2 {
        let run = try await FeedBinary.run(["load", url, "--cache", cache])
        #expect(run.output == "0 images from \(url)\n2 items have no image and aren't shown\n")
      }
      let saved = try await FeedBinary.run(["load", url, "--cache", cache, "--offline"])
      #expect(saved.output.hasPrefix("0 images from \(url), saved "))
      #expect(saved.output.hasSuffix("\n2 items have no image and aren't shown\n"))
      let several = try await FeedBinary.run(["load", url, url + "?2", "--cache", cache])
      #expect(several.output.contains("\n4 items have no image and aren't shown\n"))
    }
  }

  @Test func `a response that isn't a feed falls back to the cache, except with --fallback connectivity`() async throws
  {
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(status: 500, body: Data())
      let shown = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(shown.status == 0)
      #expect(shown.output.contains("Not the latest: The server responded with status 500"))
      let refused = try await FeedBinary.run(["load", url, "--cache", cache, "--fallback", "connectivity"])
      #expect(refused.status == 1)
      #expect(refused.output == "")
      #expect(refused.errors.contains("status 500"))
      #expect(refused.errors.contains("not used (--fallback connectivity); it has a feed saved"))
    }
  }

  @Test func `escape sequences in a feed reach neither standard output nor standard error`() async throws {
    try await withOrigin(serving: document("\u{1B}]0;owned\u{7}\u{1B}[2J")) { _, url, cache in
      for format in ["text", "json"] {
        let run = try await FeedBinary.run(["load", url, "--cache", cache, "--format", format])
        #expect(run.status == 0)
        #expect(!(run.output + run.errors).unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
        #expect(run.output.contains("owned"))
      }
    }
  }

  @Test func `--verbose reports the steps on standard error only`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try await FeedBinary.run(["load", url, "--cache", cache, "--format", "json", "--verbose"])
      #expect(run.output.split(separator: "\n").count == 1)
      #expect(run.errors.contains("request") && run.errors.contains("status=200") && run.errors.contains("cache saved"))
    }
  }

  @Test func `--version prints the version`() async throws {
    let run = try await FeedBinary.run(["--version"])
    #expect(run.status == 0)
    #expect(run.output.wholeMatch(of: /feed \d+\.\d+\.\d+\n/) != nil)
  }

  @Test(arguments: [
    ["load"], ["load", "ftp://example.com"], ["load", "http://example.com", "--max-age", "7"], ["nonsense"],
    ["watch", "http://example.com"], ["cache", "show", "nowhere"],
  ])
  func `a wrong command line exits with status 64`(arguments: [String]) async throws {
    let run = try await FeedBinary.run(arguments)
    #expect(run.status == 64)
    #expect(run.output == "")
    #expect(run.errors.contains("Usage: feed") || run.errors.contains("hint: feed --help"))
  }
}
