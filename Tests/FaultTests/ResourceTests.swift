import FeedProcess
import Foundation
import Testing

extension FaultTests {
  /// The real `feed` on a machine that has nothing left to give.
  @Suite struct ResourceTests {
    private func threadless(_ failures: Int) -> [String: String] {
      ["LD_PRELOAD": Faults.library, "FAULT_THREADS": "\(failures)"]
    }

    /// One for each thread of the pool, several times over, and for the look-up of the name.
    @Test(.timeLimit(.minutes(1)), arguments: [1, 2, 5, 9])
    func `while no thread can be started, a load waits`(failures: Int) async throws {
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

    @Test(.timeLimit(.minutes(1)), arguments: ["127.0.0.1", "localhost"])
    func `where no thread can ever be started, a load waits until it is interrupted`(host: String) async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url.replacing("127.0.0.1", with: host))
        let run = try RunningFeed(
          ["load", cache.url.absoluteString, "--cache", cache.path, "--verbose"], environment: threadless(1_000_000))
        _ = await run.errors.read(upTo: host == "localhost" ? "request" : "response")
        // Some more of its attempts.
        try await Task.sleep(for: .milliseconds(300))
        run.send(SIGTERM)
        // Work that was asked for is completed first, and waits for a thread; a second signal does not wait for it.
        if host == "127.0.0.1" {
          _ = await run.errors.read(upTo: "completing saves")
          run.send(SIGTERM)
        }
        let ending = await run.ending()
        #expect(ending.status == 128 + SIGTERM)
        #expect(ending.output == "")
        #expect(try cache.saved() == nil)
      }
    }

    @Test(.timeLimit(.minutes(1)))
    func `with few descriptors a load finds the ones it needs, and with fewer it says so`() async throws {
      try await withBench { folder, _, url in
        let cache = CacheUnderTest(folder, url)
        var outcomes: Set<String> = []
        // From a limit that not even the loop can be made with, to one that all goes well with.
        for limit in stride(from: 24, through: 5, by: -1) {
          let run = try await FeedBinary.shell(
            "ulimit -n \(limit); exec \"$FEED\" load '\(url)' --cache '\(cache.path)' --format json --timeout 500ms")
          if run.status == 0 {
            #expect(Generation.number(ofLine: run.output) != nil, "\(limit): \(run)")
            outcomes.insert(run.errors.contains("Warning") ? "shown, not saved" : "shown")
          } else {
            #expect(!run.errors.isEmpty, "\(limit): \(run)")
            outcomes.insert("said so")
          }
        }
        #expect(outcomes.contains("shown"))
        print("with 5 to 24 descriptors: \(outcomes.sorted())")
        _ = try cache.examine()
      }
    }

    /// Whether this process may mount what it likes.
    private static let canMount = getuid() == 0 && Self.run("mount", "--version")

    @Test(.timeLimit(.minutes(1)), .enabled(if: canMount, "only root can mount a small disk"))
    func `on a full disk the feed is shown, the trouble told, and the old feed kept`() async throws {
      try await withBench { folder, origin, url in
        let disk = "\(folder)/disk"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        try #require(Self.run("mount", "-t", "tmpfs", "-o", "size=160k", "tmpfs", disk))
        defer { _ = Self.run("umount", disk) }
        let cache = CacheUnderTest(disk, url)
        _ = try await FeedBinary.run(["load", url, "--cache", cache.path])
        // Room for less and less of what a save needs.
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

    private static func run(_ words: String...) -> Bool {
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = words
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }
  }
}
