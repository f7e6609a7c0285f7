import FeedStream
import Foundation
import ImageFeed
import TestSupport
import Testing

@testable import feed

/// The commands that keep, search and star former items.
@Suite(.settled) struct HistoryCommandTests {
  private func run(_ words: String..., cache: String) async throws -> FeedBinary.Ending {
    try await FeedBinary.run(words + ["--cache", cache])
  }

  @Test func `search finds comics that left the feed, and load shows only the current ones`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...3)) { origin, url, cache in
      #expect(try await run("load", url, cache: cache).status == 0)
      await origin.setAnswer(body: SchemaTests.rich(4...6))
      let latest = try await run("load", url, cache: cache)
      #expect(latest.output.hasPrefix("3 images from Blog (\(url))\n") && !latest.output.contains("Post 1"))
      let found = try await run("search", "harbour", "1", cache: cache)
      #expect(found.output.hasPrefix("1. Post 1 \"é\"\n   Blog, 2026-03-02 "))
      #expect(
        found.output.hasSuffix("\n   https://blog.example/1\n   https://blog.example/1.jpg\n"))
      #expect(found.status == 0)
      let none = try await run("search", "mountain", cache: cache)
      #expect(none.status == 1 && none.output == "" && none.errors == "feed: nothing found in \(cache)\n")
      #expect(try await run("search", "--feed", "http://other.example/", cache: cache).status == 1)
      let two = try await run("search", "--limit", "2", cache: cache)
      #expect(two.output.contains("2. ") && !two.output.contains("3. "))
      #expect(two.errors == "Showing the first 2 items; to show more, use --limit\n")
      #expect(try await run("search", "--limit", "6", "--offline", cache: cache).errors == "")
    }
  }

  @Test func `--keep none keeps only starred items, and cache clear says what it keeps`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...3)) { origin, url, cache in
      _ = try await run("load", url, "--keep", "none", cache: cache)
      let star = try await run("star", "--offline", "https://blog.example/2", "https://blog.example/9", cache: cache)
      #expect(star.output == "Starred Post 2 \"é\"\n" && star.status == 1)
      let problem = "feed: there is no item https://blog.example/9 in \(cache)\n"
      #expect(star.errors.hasPrefix(problem + "hint: \"feed search\" lists the items with their URLs"))
      await origin.setAnswer(body: SchemaTests.rich(4...6))
      _ = try await run("load", url, "--keep", "none", cache: cache)
      #expect(try await run("search", "1", cache: cache).status == 1)
      #expect(try await run("star", cache: cache).output.hasPrefix("1. ★ Post 2 \"é\"\n"))
      let cleared = try await run("cache", "clear", cache: cache)
      #expect(
        cleared.output
          == "Cleared 1 feed in \(cache)\nKept: 4 former items, and 1 star with its image; to delete them too, use --all\n"
      )
      #expect(try await run("star", cache: cache).output.contains("Post 2"))
      let all = try await run("cache", "clear", "--all", cache: cache)
      #expect(all.output == "Cleared 4 former items and 1 star in \(cache)\n")
      #expect(try await run("cache", "clear", "--all", cache: cache).output == "No feeds are saved in \(cache)\n")
      let none = try await run("star", cache: cache)
      #expect(none.output == "" && none.errors == "There are no starred items in \(cache)\n" && none.status == 0)
      #expect(try await run("search", cache: cache).status == 1)
    }
  }

  @Test func `search and star show a feed with its title in the list`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...1)) { _, url, cache in
      let user = ["XDG_CONFIG_HOME": cache + ".config", "XDG_CACHE_HOME": cache + ".cache"]
      func feed(_ words: String...) async throws -> String {
        try await FeedBinary.run(words, environment: user).output
      }
      _ = try await feed("subscriptions", "add", url, "--title", "My blog")
      _ = try await feed("star", "--offline", "https://blog.example/1")
      #expect(try await feed("search", "harbour").contains("\n   My blog, 2026-03-0"))
      #expect(try await feed("search", "harbour", "--format", "json").contains("\"My blog\""))
      #expect(try await feed("star").contains("\n   My blog, 2026-03-0"))
    }
  }

  @Test func `star names an unknown item as it was written`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...1)) { _, url, cache in
      _ = try await run("load", url, cache: cache)
      let star = try await run("star", "Sunset", cache: cache)
      #expect(star.status == 1 && star.errors.hasPrefix("feed: there is no item Sunset in \(cache)\n"))
    }
  }

  @Test func `star --quiet prints no warning if the image can't be saved`() async throws {
    try await withFolder { folder in
      let origin = try ImageOrigin()
      let url = try await origin.start(["first", "second"])
      let cache = folder.appending(path: "feeds.db").path
      _ = try await run("load", url, cache: cache)
      // There is no image at this URL.
      let image = url.replacing("/feed.json", with: "/1")
      #expect(try await run("star", image, cache: cache).errors.contains("couldn't be saved"))
      let quiet = try await run("star", image, "--quiet", cache: cache)
      #expect(quiet.status == 0 && quiet.errors == "", "\(quiet.errors)")
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test func `star without items lists the stars once, up to a limit`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...3)) { _, url, cache in
      _ = try await run("load", url, cache: cache)
      let (address, store) = (try #require(URL(string: url)), SQLiteFeedStore(path: cache))
      for image in try #require(try store.retrieve(for: address)).images {
        try store.setStar(true, image.id, of: address, now: Date())
      }
      #expect(Self.starred(in: store, limit: 2).map(\.count) == [2])
      store.close()
    }
  }

  private static func starred(in store: SQLiteFeedStore, limit: Int) -> [[SeenImage]] {
    let loop = EventLoop()
    var lists: [[SeenImage]] = []
    let history = FeedHistory(store: store, cache: FeedCache(store: store, on: loop))
    let reading = StarCommand.all(in: history, limit: limit).sink { _ in
    } receiveValue: {
      lists.append($0)
    }
    loop.run()
    reading.cancel()
    loop.close()
    return lists
  }

  @Test func `star --remove accepts any URL of the item`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...2)) { _, url, cache in
      _ = try await run("load", url, cache: cache)
      let image = "https://blog.example/1.jpg"
      #expect(try await run("star", "--offline", image, cache: cache).output == "Starred Post 1 \"é\"\n")
      #expect(try await run("load", url, cache: cache).output.contains("1. ★ Post 1"))
      let removed = try await run("star", "--remove", "https://blog.example/1", cache: cache)
      #expect(removed.output == "No longer starred: Post 1 \"é\"\n")
      #expect(try await run("star", cache: cache).output == "")
    }
  }

  @Test func `star --remove removes the star of an item in any feed, and says if there is none`() async throws {
    try await withOrigin(serving: SchemaTests.rich(1...2)) { _, url, cache in
      for feed in [url + "?a", url + "?b"] { _ = try await run("load", feed, cache: cache) }
      let (first, second) = try (#require(URL(string: url + "?a")), #require(URL(string: url + "?b")))
      let store = SQLiteFeedStore(path: cache)
      let item = try #require(try store.retrieve(for: second)?.images.first)
      #expect(try store.setStar(true, item.id, of: second, now: Date()))
      let removed = try await run("star", "--remove", "https://blog.example/1", cache: cache)
      #expect(removed.output == "No longer starred: Post 1 \"é\"\n" && removed.status == 0)
      #expect(try store.stars(of: first).isEmpty && store.stars(of: second).isEmpty)
      let again = try await run("star", "--remove", "https://blog.example/1", cache: cache)
      #expect(again.status == 1 && again.errors == "feed: the item https://blog.example/1 isn't starred\n")
      #expect(try await run("search", "--limit", "\(Int.max)", cache: cache).status == 0)
      store.close()
    }
  }

  @Test func `star --remove keeps the stars of other items that share the URL`() async throws {
    let items = (1...2).map {
      """
      {"id": "\($0)", "title": "Post \($0)", "url": "https://blog.example/\($0)", "image": "https://blog.example/logo.png"}
      """
    }
    let body = """
      {"version": "https://jsonfeed.org/version/1.1", "title": "Blog", "items": [\(items.joined(separator: ","))]}
      """
    try await withOrigin(serving: Data(body.utf8)) { _, url, cache in
      let store = SQLiteFeedStore(path: cache)
      for feed in [url + "?a", url + "?b"] {
        _ = try await run("load", feed, cache: cache)
        let address = try #require(URL(string: feed))
        let images = try #require(try store.retrieve(for: address)).images
        for image in images { try store.setStar(true, image.id, of: address, now: Date()) }
      }
      let logo = "https://blog.example/logo.png"
      let removed = try await run("star", "--remove", logo, cache: cache)
      let lines = ["?a", "?b"].map { "No longer starred: Post 1 (in \(url)\($0))\n" }
      #expect(removed.output == lines.joined() && removed.status == 0)
      let rest = try await run("star", cache: cache).output
      #expect(!rest.contains("Post 1") && rest.contains("1. ★ Post 2") && rest.contains("2. ★ Post 2"))
      _ = try await run("star", "--remove", logo, cache: cache)
      #expect(try await run("star", cache: cache).output == "")
      store.close()
    }
  }

  @Test func `the image of a starred item is kept, and commands that delete it say so`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      let origin = try ImageOrigin()
      let url = try await origin.start(["first", "second"])
      let image = url.replacing("feed.json", with: "0")
      _ = try await run("load", url, cache: cache)
      #expect(try await run("cache", "images", cache: cache).output.hasPrefix("No images are saved"))
      let star = try await run("star", image, cache: cache)
      #expect(star.output == "Starred first\n" && star.errors == "")
      #expect(await origin.asked == ["/feed.json", "/0"])
      let page = try await run("star", url.replacing("feed.json", with: "1"), cache: cache)
      #expect(page.output == "Starred second\n" && page.status == 0)
      let saving = "Warning: The starred image \(url.replacing("feed.json", with: "1")) couldn't be saved: "
      #expect(page.errors.hasPrefix("\(saving)The server sent a web page"), "\(page.errors)")
      #expect(try await run("cache", "images", cache: cache).output.contains(" for starred items, in "))
      let cleared = try await run("cache", "images", "clear", cache: cache)
      #expect(cleared.output.hasSuffix("1 image of starred items; to delete them too, use --all\n"))
      #expect(try await run("cache", "images", "show", image, cache: cache).output.contains(": gif, "))
      // The item is dropped from its feed, and the feed is deleted from the cache: the image is still shown, without
      // its server.
      try await origin.start(["other"])
      await origin.stop()
      #expect(
        try await run("cache", "clear", cache: cache).output.contains(
          "and 2 stars with their images; to delete them too, use --all"))
      _ = try await run("cache", "images", "clear", cache: cache)
      #expect(try await run("cache", "images", "show", image, cache: cache).output.contains(": gif, "))
      _ = try await run("cache", "clear", "--all", cache: cache)
      #expect(try await run("cache", "images", "clear", cache: cache).output.hasPrefix("Cleared 1 image, "))
      origin.thread.shutdown()
    }
  }

  @Test func `the image of a starred item is cleared by its URL only with --all`() async throws {
    try await withFolder { folder in
      let cache = folder.appendingPathComponent("feeds.db").path
      let origin = try ImageOrigin()
      let url = try await origin.start(["first"])
      let image = url.replacing("feed.json", with: "0")
      func clear(_ words: String...) async throws -> String {
        try await FeedBinary.run(["cache", "images", "clear", image, "--cache", cache] + words).output
      }
      _ = try await run("load", url, cache: cache)
      #expect(try await run("star", "--offline", image, cache: cache).output == "Starred first\n")
      #expect(try await clear().hasPrefix("No image is saved for "))
      #expect(try await run("star", image, cache: cache).errors == "")
      #expect(try await clear() == "Kept \(image), the image of a starred item; to delete it, use --all\n")
      #expect(try await run("cache", "images", "show", image, cache: cache).output.contains(": gif, "))
      #expect(try await clear("--all") == "Cleared \(image)\n")
      #expect(try await clear("--all").hasPrefix("No image is saved for "))
      await origin.stop()
      origin.thread.shutdown()
    }
  }

  @Test(arguments: ["-1", "1,2,3", "x", "", "5d,y", "0s", "100,200", "30d,90d"])
  func `an invalid --keep is refused`(text: String) {
    #expect(throws: (any Error).self) { try FeedCommand.parseAsRoot(["load", "http://a/", "--keep", text]) }
  }

  @Test func `--keep takes a number, an age, or both`() throws {
    func keep(_ text: String) throws -> String {
      let policy = try HistoryArgument.policy(text)
      return "\(policy.items) \(policy.age.map { "\($0.components.seconds)" } ?? "any")"
    }
    #expect(try keep("none") == "0 31536000" && keep("500") == "500 31536000")
    #expect(try keep("90d") == "1000 7776000" && keep("500,90d") == "500 7776000")
    #expect(try keep("all").hasSuffix(" any"))
  }

  @Test(arguments: [["search", "a"], ["star"]])
  func `search and star reject a fleet's store, which has no history`(words: [String]) async throws {
    let run = try await FeedBinary.run(words + ["--store", "redis://127.0.0.1:1"])
    #expect(run.status == 64 && run.errors.contains("only the feeds' current items"))
  }
}
