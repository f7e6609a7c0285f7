import Foundation
import GRDB
import ImageFeed
import Samples
import TestSupport
import Testing

@testable import feed

/// Failures around a load don't prevent the user from seeing the feed.
@Suite(.settled) struct TroubleTests {
  @Test func `a feed that can't be saved is shown with a warning and status 0`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      // A folder can't be created where a file is. Permissions wouldn't stop root.
      try Data().write(to: URL(fileURLWithPath: cache))
      let run = try await FeedBinary.run(["load", url, "--cache", "\(cache)/feeds.db"])
      #expect(run.status == 0)
      #expect(run.output.contains("1. A view"))
      #expect(run.errors.hasPrefix("Warning: Cannot save to \(cache)/feeds.db:"))
    }
  }

  @Test(.needsFilesOfNoSize) func `on a full disk, load warns and keeps the saved feed`() async throws {
    try await withOrigin(serving: document("First")) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(body: document("Second"))
      let run = try await FeedBinary.shell("ulimit -f 0; exec \"$FEED\" load '\(url)' --cache '\(cache)'")
      #expect(run.status == 0)
      #expect(run.output.contains("1. Second"))
      #expect(run.errors.contains("Warning: Cannot save to \(cache): the disk is full"))
      #expect(try await FeedBinary.run(["cache", "show", url, "--cache", cache]).output.contains("1. First"))
    }
  }

  @Test(.needsFilesOfNoSize) func `on a full disk, cache images clear deletes the images, as cache clear suggests`()
    async throws
  {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      let folder = cache.replacing("feeds.db", with: "images")
      let image = try ImageData(Data(MadeImage.png(width: 20, height: 20)))
      let address = try #require(URL(string: "https://images.example/1.png"))
      try DiskImageStore(folder: folder).save(
        Saved(FetchedImage(image, lifetime: .seconds(3_600)), timestamp: Date()), for: address, now: Date())
      func files() -> [String] {
        (FileManager.default.subpaths(atPath: "\(folder)/data") ?? []).filter { $0.count > 2 }
      }
      #expect(files().count == 1)
      let feeds = try await FeedBinary.shell("ulimit -f 0; exec \"$FEED\" cache clear --cache '\(cache)'")
      #expect(feeds.status == 1)
      let hint = "hint: if the disk is full, run \"feed cache images clear --cache "
      #expect(feeds.errors.contains(hint), "\(feeds.errors)")
      // With this limit, the index can't be changed even when the files are deleted.
      let images = try await FeedBinary.shell("ulimit -f 0; exec \"$FEED\" cache images clear --cache '\(cache)'")
      #expect(images.status == 1)
      #expect(images.errors.contains("hint: the image files are deleted as far as possible; "), "\(images.errors)")
      #expect(files() == [])
      let cleared = try await FeedBinary.run(["cache", "images", "clear", "--cache", cache])
      #expect(cleared.status == 0 && cleared.errors == "", "\(cleared.errors)")
      try FileManager.default.removeItem(atPath: folder)
      let none = try await FeedBinary.shell("ulimit -f 0; exec \"$FEED\" cache clear --cache '\(cache)'")
      #expect(none.status == 1 && !none.errors.contains("hint:"), "\(none.errors)")
    }
  }

  @Test func `a damaged cache file is renamed, and replaced by the save`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      try damage(cache)
      let run = try await FeedBinary.run(["load", url, "--cache", cache])
      #expect(run.status == 0)
      #expect(run.output.contains("1. A view"))
      #expect(run.errors.hasPrefix("Warning: The cache file was damaged and has been renamed to \(cache).corrupt-"))
      let shown = try await FeedBinary.run(["cache", "show", url, "--cache", cache])
      #expect(shown.output.contains("1. A view"))
    }
  }

  @Test func `writing to a full standard output is an error`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try await FeedBinary.shell("exec \"$FEED\" load '\(url)' --cache '\(cache)' >/dev/full")
      #expect(run.status == 1)
      #expect(run.errors == "feed: cannot write to standard output: No space left on device\n")
    }
  }

  @Test(arguments: [["--help"], ["help", "serve"], ["load", "--help"], ["--version"]])
  func `each command reports a full standard output as an error`(arguments: [String]) async throws {
    let run = try await FeedBinary.shell("exec \"$FEED\" \(arguments.joined(separator: " ")) >/dev/full")
    #expect(run.status == 1)
    #expect(run.errors == "feed: cannot write to standard output: No space left on device\n")
  }

  @Test(arguments: [10, 19, 20, 21, 25, 28, 40])
  func `too few descriptors are reported, and the command doesn't wait for more`(limit: Int) async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      for command in ["load '\(url)' --images always --timeout 5s", "serve --port 0 '\(url)'"] {
        let run = try await FeedBinary.shell("ulimit -n \(limit); exec \"$FEED\" \(command) --cache '\(cache)'")
        #expect(run.status == 1 && run.output == "")
        #expect(run.errors == "feed: too few file descriptors are left. Raise the limit (ulimit -n) to 64 or more.\n")
      }
    }
  }

  @Test func `the soft limit of descriptors is raised, and 64 descriptors are enough`() async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      for limit in ["-Sn 10", "-n 64"] {
        let run = try await FeedBinary.shell("ulimit \(limit); exec \"$FEED\" load '\(url)' --cache '\(cache)'")
        #expect(run.status == 0 && run.output.contains("A view"), "\(run.errors)")
      }
    }
  }

  @Test(arguments: [">&-", "| head -n 1"])
  func `a closed standard output ends load silently, and the feed is saved`(redirection: String) async throws {
    try await withOrigin(serving: document("A view")) { _, url, cache in
      let run = try await FeedBinary.shell("\"$FEED\" load '\(url)' --cache '\(cache)' \(redirection)")
      #expect(run.errors == "")
      let shown = try await FeedBinary.run(["cache", "show", url, "--cache", cache])
      #expect(shown.output.contains("1. A view"))
    }
  }

  @Test(.timeLimit(.minutes(5))) func `after an interrupt, load completes a requested save`() async throws {
    try await withOrigin(serving: document("First")) { origin, url, cache in
      _ = try await FeedBinary.run(["load", url, "--cache", cache])
      await origin.setAnswer(body: document("Second"))
      // Keep the save waiting until the interrupt has been handled.
      var configuration = Configuration()
      configuration.allowsUnsafeTransactions = true
      let other = try DatabaseQueue(path: cache, configuration: configuration)
      // A save waits for ten seconds. A machine too busy to interrupt it in that time tries again.
      var errors: String
      repeat {
        let run = try RunningFeed(["load", url, "--cache", cache, "--verbose"])
        try await other.inDatabaseHeld {
          _ = await run.output.read(upTo: "1. Second\n")
          run.send(SIGINT)
          _ = await run.errors.read(upTo: "finishing saves")
        }
        let ending = await run.ending()
        errors = ending.errors
        #expect(ending.status == 130)
      } while errors.contains("another process has locked it")
      #expect(try await FeedBinary.run(["cache", "show", url, "--cache", cache]).output.contains("1. Second"))
    }
  }
}

extension DatabaseQueue {
  /// Keeps other processes from writing while `body` runs.
  fileprivate func inDatabaseHeld(_ body: () async throws -> Void) async throws {
    try await writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
    try await body()
    try await writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
  }
}

extension Trait where Self == ConditionTrait {
  /// A sanitizer writes its own file before the program begins, and `ulimit -f 0` would end the process there.
  fileprivate static var needsFilesOfNoSize: Self {
    .disabled(if: Sanitizer.current != nil, "a sanitizer cannot run under ulimit -f 0")
  }
}
