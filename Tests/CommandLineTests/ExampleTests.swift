import Foundation
import ImageFeed
import Samples
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct ExampleTests {
  private func run(_ example: String, _ arguments: String...) async throws -> FeedBinary.Ending {
    try await RunningFeed(program: FeedBinary.path(of: example), arguments).ending()
  }

  @Test func `the feed that the README serves is the example's file`() throws {
    let file = URL(filePath: #filePath).resolvingSymlinksInPath()
      .appending(path: "../../../Examples/Samples/case-study.json").standardized
    let feeds = try [Data(contentsOf: file), CaseStudyFeed.body].map {
      try [any FeedFormat].web.images(of: WebDocument(body: $0, url: file))
    }
    #expect(feeds[0] == feeds[1])
  }

  @Test func `LoadAndShow shows the server's feed, and the saved one when the server is unreachable`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, cache in
      let remote = try await run("LoadAndShow", url, cache)
      #expect(remote.output.hasPrefix("8 images from the server\n- Description 1 https://url-1.com\n"))
      await origin.stop()
      let saved = try await run("LoadAndShow", url, cache)
      #expect(saved.output.hasPrefix("8 images saved "))
      #expect(saved.output.contains(": could not connect to 127.0.0.1:"))
      #expect(remote.errors == "" && saved.errors == "")
      #expect(remote.status == 0 && saved.status == 0)
    }
  }

  @Test func `SearchField searches when typing pauses, and shows only the latest response`() async throws {
    let run = try await run("SearchField")
    // SearchTests has the exact times, in virtual time. On a busy machine, the pause after "sea" may not be noticed.
    let lines = run.output.split(separator: "\n")
    #expect(lines.suffix(2) == [#"requested "seagull""#, #"showing 700 images of "seagull""#])
    #expect(Set(lines.dropLast(2)).isSubset(of: [#"requested "sea""#, #"showing 300 images of "sea""#]))
    #expect(run.errors == "")
    #expect(run.status == 0)
  }

  @Test func `YourOwnFormat shows and saves a custom JSON feed, and shows a blog's RSS too`() async throws {
    let album = Data(#"{"photos": [{"key": "a1", "caption": "A harbour", "src": "https://example.com/a.jpg"}]}"#.utf8)
    try await withOrigin(serving: album) { origin, url, cache in
      let remote = try await run("YourOwnFormat", url, cache)
      #expect(remote.output == "- A harbour https://example.com/a.jpg\n")
      let item = "<item><title>Sea</title><enclosure url='/s.png' type='image/png'/></item>"
      let rss = "<rss><channel>\(item)</channel></rss>"
      await origin.setAnswer(body: Data(rss.utf8))
      let blog = try await run("YourOwnFormat", url, cache)
      #expect(blog.output.hasPrefix("- Sea http://127.0.0.1:"))
      await origin.stop()
      #expect(try await run("YourOwnFormat", url, cache).output == blog.output)
    }
  }

  @Test func `YourOwnFormat escapes captions, refuses other URLs, and reads indented JSON`() async throws {
    func album(_ photo: String) -> Data { Data("{\n  \"photos\": [{\"key\": \"a1\", \(photo)}]\n}".utf8) }
    let hostile = album(#""caption": "\u001b[2J", "src": "https://example.com/a.jpg""#)
    try await withOrigin(serving: hostile) { origin, url, cache in
      let shown = try await run("YourOwnFormat", url, cache)
      #expect(shown.output.contains(" https://example.com/a.jpg\n"))
      #expect(!shown.output.contains("\u{1B}"))
    }
    for address in ["file:///etc/passwd", "a.jpg", "https:a.jpg"] {
      try await withOrigin(serving: album("\"src\": \"\(address)\"")) { _, url, cache in
        let refused = try await run("YourOwnFormat", url, cache)
        #expect(refused.output == "" && refused.errors.hasPrefix("no feed: ") && refused.status == 1, "\(address)")
      }
    }
  }

  @Test(arguments: [["LiveEvents"], ["StuckStreams"], ["CountVisits"], ["TodoServer", "--port"]])
  func `a server whose port is in use says so in one line, and an invalid port is refused`(_ words: [String])
    async throws
  {
    let (program, option) = (FeedBinary.path(of: words[0]), Array(words.dropFirst()))
    try await withOrigin(serving: CaseStudyFeed.body) { _, url, _ in
      let refused = try await RunningFeed(program: program, option + ["\(port(of: url))"]).ending()
      let lines = (refused.output + refused.errors).split(separator: "\n")
      #expect(lines.count == 1 && lines[0].contains("EADDRINUSE") && refused.status == 1, "\(lines)")
    }
    for wrong in ["x", "65536"] {
      #expect(try await RunningFeed(program: program, option + [wrong]).ending().status == 64)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `LiveEvents sends each message to every listener, and ends on a signal`(_ signal: Int32) async throws {
    let run = try RunningFeed(program: FeedBinary.path(of: "LiveEvents"), ["0"])
    let number = try port(of: try #require(await run.output.line()))
    #expect(try await get(number, "/").contains("EventSource"))
    let said = try await ask(
      number, "POST /say HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
    #expect(said.hasPrefix("HTTP/1.1 204"))
    let hello = try await ask(number, "GET /events HTTP/1.1\r\nHost: h\r\n\r\n", upTo: "listening\n\n")
    let id = try #require(hello.firstMatch(of: #/id: (\w+)-1\n/#)?.1)
    // A client that reconnects gets the events that it missed.
    let late = "GET /events HTTP/1.1\r\nHost: h\r\nLast-Event-ID: \(id)-0\r\n\r\n"
    #expect(try await ask(number, late, upTo: "data: hello\n\n").contains("event: said\ndata: hello\n\n"))
    run.send(signal)
    #expect(await run.status() == 0)
  }

  @Test func `StuckStreams has a page that names where each stream waits`() async throws {
    let run = try RunningFeed(program: FeedBinary.path(of: "StuckStreams"), ["0"])
    let number = try port(of: try #require(await run.output.line()))
    let reasons = [
      "FlatMap waits for the completion of PassthroughSubject", "waits for a value from upstream 2: Filter",
      "its buffer is full (8 of 8)", "waits for its timer, with 1 value",
      "call connect(), and keep the result",
      "2 values arrived, but none was passed on; 2 of at most 2 tasks are running", "uploads",
    ]
    var page = ""
    for _ in 0..<200 where !reasons.allSatisfy({ page.contains($0) }) {
      page = try await get(number, "/streams")
      try await Task.sleep(for: .milliseconds(100))
    }
    for reason in reasons { #expect(page.contains(reason), "\(page)") }
    run.send(SIGTERM)
    #expect(await run.status() == 128 + SIGTERM)
  }

  @Test(arguments: ["--days 36501", "--hours 999999999999999999", "--seeds 2 --first-seed 18446744073709551614"])
  func `year-of-polling refuses numbers that are too large`(_ options: String) async throws {
    let program = FeedBinary.path(of: "year-of-polling")
    let refused = try await RunningFeed(program: program, options.split(separator: " ").map(String.init)).ending()
    #expect(refused.status == 64 && refused.output == "")
  }

  @Test func `ZipTwoLoads shows both feeds or neither`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { origin, url, _ in
      let both = try await run("ZipTwoLoads", url, url + "?2")
      #expect(both.output == "16 images, 8 of them distinct\n")
      await origin.stop()
      let neither = try await run("ZipTwoLoads", url, url + "?2")
      #expect(neither.errors.hasPrefix("could not load both: could not connect"))
      #expect(neither.output == "" && neither.status == 1)
    }
  }
}
