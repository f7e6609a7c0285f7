import Foundation
import TestSupport
import Testing

extension FaultTests {
  /// The real `feed` on a machine without free resources.
  @Suite struct ResourceTests {
    private func threadless(_ failures: Int) -> [String: String] {
      ["LD_PRELOAD": Faults.library, "FAULT_THREADS": "\(failures)"]
    }

    /// The number of failed thread starts: for the pool's threads, several times, and for the name lookup.
    @Test(.timeLimit(Extent.limit), arguments: [1, 2, 5, 9])
    func `a load waits while no thread can be started`(failures: Int) async throws {
      try await withBench { folder, _, url in
        let cache = CacheUnderTest(folder, url.replacing("127.0.0.1", with: "localhost"))
        let run = try await FeedBinary.run(
          ["load", cache.url.absoluteString, "--cache", cache.path, "--format", "json"],
          environment: threadless(failures))
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(Generation.number(ofLine: run.output) == 1)
        #expect(try cache.examine() == 1)
      }
    }

    @Test(.timeLimit(Extent.limit))
    func `a load completes without any threads, and saves what it shows`() async throws {
      try await withBench { folder, _, url in
        let cache = CacheUnderTest(folder, url)
        let run = try await FeedBinary.run(
          ["load", url, "--cache", cache.path, "--format", "json"], environment: threadless(.max))
        #expect(run.errors == "")
        #expect(run.status == 0)
        #expect(Generation.number(ofLine: run.output) == 1)
        #expect(try cache.examine() == 1)
      }
    }

    /// Uses an IP address, whose response must be saved, and a name that can't be looked up; libcurl resolves
    /// `localhost` itself.
    @Test(.timeLimit(Extent.limit), arguments: ["127.0.0.1", "feed.invalid"], [SIGINT, SIGTERM])
    func `without any threads, the first signal ends watch within a second, after pending saves`(
      host: String, signal: Int32
    ) async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url.replacing("127.0.0.1", with: host))
        let arguments = ["--every", "10ms", "--cache", cache.path, "--format", "json", "--verbose"]
        // Under load from other programs, a single run may take longer.
        var shortest = Duration.seconds(3600)
        for _ in 1...5 where shortest >= .seconds(1) {
          let run = try RunningFeed(
            ["watch", cache.url.absoluteString] + arguments, environment: threadless(.max))
          var shown: Int?
          if host == "feed.invalid" {
            _ = try #require(await run.errors.read(upTo: "request"))
          } else {
            let line = try #require(await run.output.line())
            let number: Int = try #require(Generation.number(ofLine: line))
            shown = number
          }
          let sent = ContinuousClock.now
          run.send(signal)
          #expect(await run.status() == 128 + signal)
          shortest = min(shortest, ContinuousClock.now - sent)
          let saved = try cache.saved()
          if let shown { #expect(try #require(saved) >= shown) } else { #expect(saved == nil) }
        }
        #expect(shortest < .seconds(1))
      }
    }

    /// True when this process may mount file systems.
    private static let canMount = getuid() == 0 && Self.run("unshare --mount true")

    @Test(.timeLimit(Extent.limit), .enabled(if: canMount, "only root can mount a small disk"))
    func `on a full disk, the feed is shown, the error reported and the old feed kept`() async throws {
      try await withBench { folder, origin, url in
        let disk = "\(folder)/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try #require(Self.run("mount -t tmpfs -o size=160k tmpfs '\(disk)'"))
        defer { _ = Self.run("umount '\(disk)'") }
        let cache = CacheUnderTest(disk, url)
        _ = try await FeedBinary.run(["load", url, "--cache", cache.path])
        // Fill the disk, and leave room for different parts of a save.
        var told = 0
        let ballast = URL(filePath: "\(disk)/ballast")
        for pages in stride(from: 0, through: 40, by: 4) {
          let old = try #require(try cache.saved())
          var size = pages * 4096
          while size > 0 {
            try? FileManager.default.removeItem(at: ballast)
            if (try? Data(count: size).write(to: ballast)) != nil { break }
            size -= 4096
          }
          let run = try await FeedBinary.run(["load", url, "--cache", cache.path, "--format", "json"])
          #expect(run.status == 0)
          let shown = try #require(Generation.number(ofLine: run.output))
          try? FileManager.default.removeItem(at: ballast)
          if run.errors.contains("the disk is full") {
            told += 1
            #expect(try cache.saved() == old)
          } else {
            #expect(run.errors == "")
            #expect(try cache.saved() == shown)
          }
        }
        #expect(told > 0)
        print("a full disk: told \(told) times")
      }
    }

    /// Runs a line of shell script. Foundation's `Process` sometimes misses the end of a process.
    private static func run(_ line: String) -> Bool { system("\(line) >/dev/null 2>&1") == 0 }
  }
}
