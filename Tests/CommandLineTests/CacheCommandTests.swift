import Foundation
import ImageFeed
import Samples
import TestSupport
import Testing

@testable import feed

@Suite(.settled) struct CacheCommandTests {
  @Test(arguments: ["show", "validate", "clear"], [false, true])
  func `a missing cache isn't created, and is an error only if one feed should be shown`(command: String, one: Bool)
    async throws
  {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("none/feeds.db").path
      let run = try await FeedBinary.run(
        ["cache", command] + (one ? ["http://example.com/feed.json"] : []) + ["--cache", cache])
      if command == "show", one {
        let missing = "feed: nothing is saved for http://example.com/feed.json in \(cache)\n"
        #expect(run.status == 1 && run.output == "" && run.errors == missing, "\(run.errors)")
      } else {
        #expect(run.status == 0 && run.errors == "")
        let words = command == "clear" && !one ? "No feeds are saved in" : "Nothing is saved"
        #expect(run.output.contains(words), "\(run.output)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }

  @Test func `cache show lists the saved feeds, or one feed with its images`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { _, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      let all = try await FeedBinary.run(["cache", "show", "--cache", cache])
      #expect(all.output.hasPrefix("\(url): 8 images, saved "))
      #expect(all.output.split(separator: "\n").count == 1)
      let one = try await FeedBinary.run(["cache", "show", url, "--cache", cache, "--max-age", "0s"])
      #expect(one.output.contains(", expired\n\n1. Description 1\n"))
      #expect(all.status == 0 && one.status == 0)
    }
  }

  @Test func `cache validate keeps valid feeds and deletes expired ones`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { _, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      let valid = try await FeedBinary.run(["cache", "validate", "--cache", cache])
      #expect(valid.output == "\(url): valid\n")
      let expired = try await FeedBinary.run(["cache", "validate", "--cache", cache, "--max-age", "0s"])
      #expect(expired.output == "\(url): expired, deleted\n")
      let shown = try await FeedBinary.run(["cache", "show", "--cache", cache])
      #expect(shown.output == "Nothing is saved in \(cache)\n")
    }
  }

  @Test func `cache validate renames a damaged file`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db")
      let store = SQLiteFeedStore(path: cache.path)
      _ = try store.replace(
        for: sampleURL, with: CachedFeed(images: sampleImages, timestamp: sampleDate), now: sampleDate)
      store.close()
      try damage(cache.path)
      let shown = try await FeedBinary.run(["cache", "show", "--cache", cache.path])
      #expect(shown.status == 1)
      #expect(shown.errors.contains("it is damaged"))
      let run = try await FeedBinary.run(["cache", "validate", "--cache", cache.path])
      #expect(run.status == 0)
      #expect(run.output == "Damaged and renamed: \(cache.path)\n")
      #expect(
        try await FeedBinary.run(["cache", "validate", "--cache", cache.path]).output.hasPrefix("Nothing is saved"))
      let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(files.contains { $0.hasPrefix("feeds.db.corrupt-") })
    }
  }

  @Test func `cache validate with a URL doesn't call a feed valid whose file it has renamed`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      let store = SQLiteFeedStore(path: cache)
      _ = try store.replace(
        for: sampleURL, with: CachedFeed(images: sampleImages, timestamp: sampleDate), now: sampleDate)
      store.close()
      try damage(cache)
      let run = try await FeedBinary.run(["cache", "validate", sampleURL.absoluteString, "--cache", cache])
      #expect(run.output.contains(": unreadable, deleted"), "\(run.output)")
    }
  }

  @Test func `cache clear deletes one feed or all`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { _, url, cache in
      for address in [url, url + "?2", url + "?3"] {
        _ = try await FeedBinary.run(["load", address, "--cache", cache])
      }
      let one = try await FeedBinary.run(["cache", "clear", url, "--cache", cache])
      #expect(
        one.output
          == "Cleared \(url)\nIts former items and stars, if any, are kept; to delete them too, use --all\n")
      let left = try await FeedBinary.run(["cache", "show", "--cache", cache])
      #expect(left.output.split(separator: "\n").count == 2)
      let rest = try await FeedBinary.run(["cache", "clear", "--cache", cache])
      #expect(rest.status == 0 && rest.output.hasPrefix("Cleared 2 feeds in \(cache)\n"))
      // Without a subcommand, the saved feeds are shown.
      let shown = try await FeedBinary.run(["cache", "--cache", cache])
      #expect(shown.output == "Nothing is saved in \(cache)\n")
    }
  }

  @Test func `without --cache, the user's cache is used`() async throws {
    try await withOrigin(serving: CaseStudyFeed.body) { _, url, cache in
      let home = URL(fileURLWithPath: cache).deletingLastPathComponent().path
      _ = try await FeedBinary.run(["load", url], environment: ["XDG_CACHE_HOME": home])
      #expect(FileManager.default.fileExists(atPath: "\(home)/feedstream/feeds.db"))
    }
  }
}

@Suite(.settled) struct DemoCommandTests {
  @Test func `demo runs the five scenarios and leaves no file behind`() async throws {
    try await withFolder { folder in
      let run = try await FeedBinary.run(["demo"], environment: ["TMPDIR": folder.path])
      #expect(run.status == 0)
      #expect(run.errors == "")
      for scenario in 1...5 { #expect(run.output.contains("\n\(scenario). ")) }
      #expect(run.output.contains("each scenario had the specified result"))
      #expect(!run.output.contains("✗"))
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }

  @Test func `demo fails if its output can't be written, and leaves no file behind`() async throws {
    try await withFolder { folder in
      let run = try await FeedBinary.shell("TMPDIR=\(folder.path) \"$FEED\" demo >/dev/full")
      #expect(run.status == 1 && run.errors.contains("cannot write to standard output"), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
  }
}
