import FeedPolling
import Foundation
import ImageFeed
import Samples
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct ExplainCommandTests {
  @Test func `explain says that a feed was never watched`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      let run = try await FeedBinary.run(["explain", "http://127.0.0.1:1/feed", "--cache", cache])
      #expect(run.status == 0)
      #expect(run.output.contains("saved:  nothing") && run.output.contains("it has never been polled"))
    }
  }

  @Test func `explain says whether a feed is in the list, and its own interval`() async throws {
    try await withFolder { folder in
      let list = folder.appending(path: "feedstream/subscriptions.opml")
      try FileManager.default.createDirectory(at: list.deletingLastPathComponent(), withIntermediateDirectories: true)
      let outline = "<outline text='A' xmlUrl='http://127.0.0.1:1/a' feed:interval='15m'/>"
      try Data("<opml><body><outline text='News'>\(outline)</outline></body></opml>".utf8).write(to: list)
      let user = ["XDG_CONFIG_HOME": folder.path, "XDG_CACHE_HOME": folder.path]
      let known = try await FeedBinary.run(["explain", "http://127.0.0.1:1/a"], environment: user).output
      #expect(known.contains("\n  list:   in your list, folder News, every 15m\n"), "\(known)")
      let unknown = try await FeedBinary.run(["explain", "http://127.0.0.1:1/b"], environment: user).output
      #expect(unknown.contains("\n  list:   not in your list\n"), "\(unknown)")
      try Data("no list".utf8).write(to: list)
      let unread = try await FeedBinary.run(["explain", "http://127.0.0.1:1/a"], environment: user)
      #expect(unread.status == 0 && !unread.output.contains("  list:"), "\(unread.output)")
    }
  }

  @Test func `explain names the rule behind the next poll, even after the watch has ended`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let watch = try RunningFeed(["watch", url, "--every", "1h", "--cache", cache, "-v"])
      _ = await watch.errors.read(upTo: "because the interval is 1 hour (interval)")
      watch.send(SIGTERM)
      #expect(await watch.status() == 143)

      let text = try await FeedBinary.run(["explain", url, "--cache", cache])
      #expect(text.status == 0)
      for part in [
        "1 image, last confirmed", "next:   in ", "because the interval is 1 hour (interval)", "is not paused",
      ] {
        #expect(text.output.contains(part), "\(text.output)")
      }
      #expect(text.output.contains("requested the whole feed: status 200, changed, 1 image;"))

      let json = try await FeedBinary.run(["explain", url, "--cache", cache, "--format", "json"])
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
      #expect(object["rule"] as? String == "interval" && object["failures"] as? Int == 0)
      #expect((object["decisions"] as? [Any])?.count == 1 && json.output.split(separator: "\n").count == 1)
    }
  }

  @Test func `explain and the process list don't show a URL's password`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let secret = url.replacing("http://", with: "http://me:topsecret@")
      let watch = try RunningFeed(
        ["watch", secret, "--header", "X-Key: topsecret", "--every", "1h", "--cache", cache, "-v"])
      let said = await watch.errors.read(upTo: "because the interval is 1 hour (interval)") ?? ""
      let listed = try String(contentsOfFile: "/proc/\(watch.process)/cmdline", encoding: .utf8)
      #expect(listed.contains("http://me:xxxxxxxxx@127.0.0.1") && listed.contains("--every\u{0}1h"), "\(listed)")
      watch.send(SIGTERM)
      _ = await watch.status()
      var texts: [String] = []
      for format in ["text", "json"] {
        texts.append(try await FeedBinary.run(["explain", secret, "--cache", cache, "--format", format]).output)
      }
      #expect(texts[0].contains("http://me:…@") && texts[1].contains("http://me:…@"), "\(texts)")
      for text in texts + [said, listed] { #expect(!text.contains("topsecret"), "\(text)") }
    }
  }

  @Test func `explain's JSON escapes everything that a terminal interprets`() throws {
    let address = try #require(URL(string: "http://h/feed"))
    let tag = "a\u{61C}\u{E000}\u{FEFF}\u{E0001}\u{202E}é\u{200D}"
    let saved = CachedFeedSummary(
      address: address, timestamp: Date(timeIntervalSince1970: 0), imageCount: 1, validators: FeedValidators(etag: tag))
    let explanation = FeedExplanation(address: address, saved: saved, health: nil, host: nil, decisions: [])
    let line = ExplanationJSON.line(explanation, now: Date(timeIntervalSince1970: 0))
    #expect(line.contains(#""etag":"a\u061C\uE000\uFEFF\uDB40\uDC01\u202Eé\#u{200D}""#), "\(line)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect((object["saved"] as? [String: Any])?["etag"] as? String == tag)
  }

  @Test func `a decision is one clause with times to the second, and a long wait has no seconds`() throws {
    let address = try #require(URL(string: "http://h/feed"))
    let now = Date(timeIntervalSince1970: 1_750_000_000)
    var health = FeedHealth(address: address)
    (health.asked, health.due) = (now, now + 3642)
    (health.rule, health.reason) = (.retryAfter, "the server requests a pause (Retry-After)")
    let decision = PollDecision(
      time: now, request: "changes", outcome: "It isn't a feed. Check the URL.", due: now + 1, rule: .interval,
      reason: "the interval is 1 second")
    let explanation = FeedExplanation(
      address: address, saved: nil, health: health, host: nil, decisions: [decision])
    let text = ExplanationText(style: .plain, now: now).text(of: explanation)
    #expect(text.contains("next:   in 1h1m ("), "\(text)")
    #expect(text.contains("because the server requests a pause (Retry-After; retryAfter)\n"), "\(text)")
    #expect(text.contains(/:\d\d:\d\d .*: requested changes: It isn't a feed; check the URL; next at .*:\d\d:\d\d/))
  }

  @Test func `restarting watch with another interval explains the wait`() async throws {
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      for interval in ["1h", "2h"] {
        let watch = try RunningFeed(["watch", url, "--every", interval, "--cache", cache])
        let shown = await watch.output.read(upTo: "1. ") ?? ""
        if interval == "2h" { #expect(shown.contains("because the interval is 2 hours"), "\(shown)") }
        watch.send(SIGTERM)
        _ = await watch.status()
      }
    }
  }

  @Test func `restarting watch makes no request and shows the saved feed`() async throws {
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      for round in 0..<3 {
        let watch = try RunningFeed(["watch", url, "--every", "1h", "--cache", cache, "--format", "json"])
        #expect(try #require(await watch.output.line()).contains(#","origin":"\#(round == 0 ? "remote" : "cache")","#))
        watch.send(SIGKILL)
        _ = await watch.status()
      }
      #expect(await origin.requestCount == 1)
    }
  }

  @Test func `explain shows a pause requested by the server, which survives killing the watch`() async throws {
    try await withOrigin(serving: document("A view")) { origin, url, cache in
      await origin.setAnswer(status: 429, body: Data())
      let watch = try RunningFeed(["watch", url, "--every", "50ms", "--cache", cache, "-v"])
      _ = await watch.errors.read(upTo: "(retryAfter)")
      watch.send(SIGKILL)
      _ = await watch.status()
      let again = try RunningFeed(["watch", url, "--every", "50ms", "--cache", cache])
      _ = await again.errors.read(upTo: "no feed to show")
      again.send(SIGTERM)
      _ = await again.status()
      #expect(await origin.requestCount == 1)
      let text = try await FeedBinary.run(["explain", url, "--cache", cache])
      #expect(text.output.contains("is paused until"))
      #expect(text.output.contains("refuses requests at the moment and does not say for how long"))
    }
  }
}
