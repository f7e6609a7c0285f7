import Foundation
import Samples
import Synchronization
import TestSupport
import Testing

@testable import HTTPTestSupport
@testable import feed

@Suite(.settled) struct WatchCommandTests {
  private func watch(_ url: String, _ cache: String, _ more: String...) throws -> RunningFeed {
    try RunningFeed(["watch", url, "--every", "50ms", "--cache", cache, "--format", "json"] + more)
  }

  @Test func `watch writes a line when the feed changes, and ends after --count lines`() async throws {
    try await withOrigin(serving: document("First")) { origin, url, cache in
      let run = try watch(url, cache, "--count", "2")
      #expect(try #require(await run.output.line()).contains("First"))
      // Wait for some polls that find nothing new.
      try await wait(while: await origin.requestCount < 4)
      await origin.setAnswer(body: document("Second"))
      let ending = await run.ending()
      #expect(ending.output.split(separator: "\n").count == 1)
      #expect(ending.output.contains("Second"))
      #expect(ending.errors == "")
      #expect(ending.status == 0)
      let shown = try await FeedBinary.run(["cache", "show", url, "--cache", cache])
      #expect(shown.output.contains("1. Second"))
    }
  }

  @Test func `watch writes a line when the feed's source changes between server and cache`() async throws {
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      let run = try watch(url, cache, "--count", "3")
      #expect(try #require(await run.output.line()).contains(#","origin":"remote","#))
      await origin.stop()
      #expect(try #require(await run.output.line()).contains(#","origin":"cache","#))
      try await origin.start()
      #expect(try #require(await run.output.line()).contains(#","origin":"remote","#))
      #expect(await run.status() == 0)
    }
  }

  /// An origin that sends these responses in order, and then repeats the last one. So the next response does not depend
  /// on how soon a test notices the previous one, while pauses double with each failure. `nil` breaks the connection.
  private func origin(answering answers: [Data?]) -> RawOrigin {
    let count = Atomic(0)
    return RawOrigin { connection in
      while true {
        try connection.readRequest()
        let number = count.add(1, ordering: .relaxed).oldValue
        guard let answer = answers[min(number, answers.count - 1)] else { throw RawOrigin.Broken() }
        try connection.send(answer)
      }
    }
  }

  private static func failure(_ status: String) -> Data { RawOrigin.answer(status) }
  private static let view = RawOrigin.answer("200 OK", [], document("A view"))

  @Test func `watch continues after errors, and reports them when they change`() async throws {
    let origin = origin(
      answering: Array(repeating: Self.failure("500 No"), count: 3) + [Self.failure("404 No"), Self.view])
    defer { origin.stop() }
    try await withFolder { folder in
      let run = try watch(origin.url().absoluteString, folder.appendingPathComponent("feeds.db").path, "--count", "1")
      let ending = await run.ending()
      #expect(ending.status == 0)
      #expect(ending.output.contains("A view"))
      let statuses = ending.errors.matches(of: /status (\d+)/).map { String($0.1) }
      #expect(statuses == ["500", "404"])
    }
  }

  @Test func `a failure that doesn't fall back says so, whatever an earlier load found in the cache`() async throws {
    // The client may repeat a request once if its connection breaks.
    let origin = origin(answering: [Self.view, nil, nil, Self.failure("500 No"), Self.failure("404 No")])
    defer { origin.stop() }
    try await withFolder { folder in
      let run = try watch(
        origin.url().absoluteString, folder.appendingPathComponent("feeds.db").path, "--fallback", "connectivity")
      _ = await run.output.line()
      #expect(try #require(await run.output.line()).contains(#","origin":"cache","#))
      for status in [500, 404] {
        _ = await run.errors.read(upTo: "status \(status)")
        let cacheLine = try #require(await run.errors.read(upTo: "\nhint:"))
        #expect(cacheLine.contains("not used (--fallback connectivity); it has a feed saved"))
      }
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test func `watch --follow shows what another process loads, and makes no request`() async throws {
    try await withOrigin(serving: document("First")) { origin, url, cache in
      let run = try RunningFeed(["watch", url, "--follow", "--cache", cache, "--format", "json", "--count", "3"])
      for (number, title) in ["First", "Second", "Third"].enumerated() {
        await origin.setAnswer(body: document(title))
        let load = try await FeedBinary.run(["load", url, "--cache", cache])
        #expect(load.status == 0)
        let line = try #require(await run.output.line())
        #expect(line.contains(title) && line.contains(#","origin":"cache","#))
        #expect(await origin.requestCount == number + 1)
      }
      #expect(await run.status() == 0)
    }
  }

  @Test(arguments: [["--follow", "--every", "1m"], []]) func `watch takes either an interval or --follow`(
    options: [String]
  ) async throws {
    let run = try await FeedBinary.run(["watch", "https://example.com/"] + options)
    #expect(run.status == 64 && run.errors.contains("--every"))
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal ends watch immediately`(signal: Int32) async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed(["watch", url, "--every", "7d", "--cache", cache])
      _ = await run.output.read(upTo: "https://url-1.com\n")
      run.send(signal)
      let ending = await run.ending()
      #expect(ending.status == 128 + signal)
      #expect(ending.errors == "")
    }
  }

  @Test func `watch ends silently when its output is closed, even while nothing changes`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed(["watch", url, "--every", "7d", "--cache", cache])
      _ = await run.output.read(upTo: "https://url-1.com\n")
      run.output.close()
      #expect(await run.status() == 141)
      #expect(await run.errors.rest() == "")
    }
  }

  @Test func `watch ends on a signal even if its output isn't read`() async throws {
    // The text is longer than a pipe's capacity.
    try await withOrigin(serving: document(String(repeating: "long ", count: 100_000))) { _, url, cache in
      let run = try RunningFeed(["watch", url, "--every", "7d", "--cache", cache, "-v"], readsOutput: false)
      _ = await run.errors.read(upTo: "changed, ")
      run.send(SIGTERM)
      #expect(await run.status() == 143)
    }
  }

  @Test func `a signal ends watch without waiting for a large feed to be decoded`() async throws {
    let item = #"{"id": "73A7F70C-75DA-4C2E-B5A3-EED40DC53AA6", "image": "https://a.example/%20"}"#
    // Decoding this takes seconds in a debug build.
    let feed = Data("{\"items\": [\([String](repeating: item, count: 400_000).joined(separator: ","))]}".utf8)
    try await withOrigin(serving: feed) { _, url, cache in
      // On a busy machine, the signal may arrive after decoding has ended; such an attempt proves nothing.
      for attempt in 1...5 {
        let run = try RunningFeed(["watch", url, "--every", "1h", "--cache", "\(cache)-\(attempt)", "-v"])
        _ = await run.errors.read(upTo: "response\n")
        run.send(SIGTERM)
        #expect(await run.status() == 143)
        if await !run.errors.rest().contains("changed, ") { return }
      }
      Issue.record("the feed was decoded each time")
    }
  }

  @Test func `unread messages on standard error delay neither the feed nor a signal`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let load = try RunningFeed(["load", url, "--cache", cache, "-v"], errorsAreFull: true)
      #expect(await load.status() == 0)
      #expect(await load.output.rest().contains("1 image from"))
      let watch = try RunningFeed(["watch", url, "--every", "7d", "--cache", cache, "-v"], errorsAreFull: true)
      _ = await watch.output.read(upTo: "1 image from")
      watch.send(SIGTERM)
      #expect(await watch.status() == 143)
    }
  }
}

@Suite(.settled) struct TerminalTests {
  @Test func `on a terminal, watch uses color and shows a status line`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed(
        ["watch", url, "--every", "30s", "--cache", cache], environment: ["TERM": "xterm"], terminal: true)
      let shown = try #require(await run.output.read(upTo: "https://url-1.com"))
      #expect(shown.contains("\u{1B}[1m1 image\u{1B}[0m from"))
      #expect(try #require(await run.output.read(upTo: "next in ")).contains("checked "))
      run.send(SIGINT)
      #expect(await run.status() == 130)
      // The status line is removed.
      #expect(await run.output.rest().hasSuffix("\r\u{1B}[K"))
    }
  }

  @Test(.timeLimit(.minutes(5))) func `the status line shows when the server allows the next request`() async throws {
    let origin = RawOrigin.answering { _ in
      RawOrigin.answer("200 OK", ["Cache-Control: max-age=36000"], document("A view"))
    }
    defer { origin.stop() }
    try await withFolder { folder in
      let url = origin.url().absoluteString
      let cache = folder.appendingPathComponent("feeds.db").path
      // The second process finds that the feed isn't due.
      for isFirst in [true, false] {
        let run = try RunningFeed(
          ["watch", url, "--every", "1s", "--cache", cache], environment: ["TERM": "xterm"], terminal: true)
        let before = try #require(await run.output.read(upTo: "next in "))
        #expect(before.contains("checked ") == isFirst)
        let wait = try #require(await run.output.read(upTo: "h"))
        #expect(["9h", "10h", "11h"].contains(wait), "\(wait)")
        run.send(SIGINT)
        #expect(await run.status() == 130)
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func `a feed that leaves the list leaves the status line`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let list = cache + ".opml"
      func save(_ urls: String...) throws {
        let outlines = urls.map { "<outline type=\"rss\" text=\"x\" xmlUrl=\"\($0)\"/>" }.joined()
        try Data("<opml version=\"2.0\"><body>\(outlines)</body></opml>".utf8)
          .write(to: URL(filePath: list), options: .atomic)
      }
      // No server listens at the second URL.
      try save(url, "http://127.0.0.1:1/feed")
      let run = try RunningFeed(
        ["watch", "--opml", list, "--every", "1h", "--cache", cache], environment: ["TERM": "xterm"],
        terminal: true)
      _ = try #require(await run.output.read(upTo: "has been unreachable"))
      try save(url)
      _ = try #require(await run.output.read(upTo: "now has 1 feed"))
      // The previous line is shown once more, below the note.
      for _ in 1...2 { _ = try #require(await run.output.read(upTo: "next in ")) }
      let line = try #require(await run.output.read(upTo: "next in "))
      #expect(!line.contains("unreachable"))
      run.send(SIGINT)
      #expect(await run.status() == 130)
    }
  }

  @Test(arguments: [["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb"]])
  func `a terminal without color support gets no color`(environment: [String: String]) async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try RunningFeed(["load", url, "--cache", cache], environment: environment, terminal: true)
      #expect(await run.status() == 0)
      let shown = await run.output.rest()
      #expect(shown.contains("1 image from"))
      #expect(shown.matches(of: /\u{1B}\[[0-9;]*m/).isEmpty)
      // A slow load shows its progress only on a terminal that can remove the line again.
      if environment["TERM"] == "dumb" { #expect(!shown.contains("\u{1B}")) }
    }
  }
}
