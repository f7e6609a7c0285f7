import Foundation
import ImageFeed
import TestSupport
import Testing

extension FaultTests {
  /// Runs that are ended at random moments, by SIGKILL or another signal, while they load and save continuously.
  @Suite struct KilledAnytimeTests {
    private static let kills = Extent.isLong ? 1_000 : 120

    @Test(.timeLimit(Extent.limit))
    func `killed at random moments, the cache holds a complete feed that was served`() async throws {
      try await withBench { folder, origin, url in
        var kept = 0
        // Two at a time, each series of runs with its own cache.
        try await withThrowingTaskGroup(of: Int.self) { group in
          for lane in 0..<2 {
            group.addTask {
              let cache = CacheUnderTest("\(folder)/\(lane)", url)
              var (last, kept) = (0, 0)
              for round in 0..<Self.kills / 2 {
                let delay = Int.random(in: 0...(round.isMultiple(of: 2) ? 30_000 : 100_000))
                let run = try RunningFeed(["watch", url, "--every", "1ms", "--cache", cache.path])
                // Alternately kill a run during its loads and saves, and one that has just begun.
                if round.isMultiple(of: 2) { _ = await run.output.line() }
                try await Task.sleep(for: .microseconds(delay))
                run.send(SIGKILL)
                #expect(await run.status() == 128 + SIGKILL)
                let saved = try cache.saved() ?? 0
                #expect(saved >= last && saved <= 1_000_000, "killed after \(delay) µs")
                if saved > last { kept += 1 }
                last = saved
              }
              _ = try cache.examine()
              return kept
            }
          }
          for try await count in group { kept += count }
        }
        // If nothing was saved before the kills, they proved nothing.
        #expect(kept > 0)
        print("\(Self.kills) kills, \(kept) of them after a save of their process; \(await origin.requests) loads")
      }
    }

    private static let signals = Extent.isLong ? 200 : 20

    @Test(.timeLimit(Extent.limit), arguments: [SIGINT, SIGTERM])
    func `a signal at a random moment ends watch within a second, and shown feeds are saved`(signal: Int32) async throws
    {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        var times: [Duration] = []
        for _ in 0..<Self.signals {
          let run = try RunningFeed(["watch", url, "--every", "1ms", "--cache", cache.path, "--format", "json"])
          var shown = try #require(await run.output.line())
          try await Task.sleep(for: .microseconds(Int.random(in: 0...20_000)))
          let sent = ContinuousClock.now
          run.send(signal)
          let ending = await run.ending()
          times.append(.now - sent)
          #expect(ending.status == 128 + signal)
          #expect(ending.errors == "")
          if let last = ending.output.split(separator: "\n").last(where: { $0.hasSuffix("}") }) { shown = String(last) }
          let saved = try #require(try cache.saved())
          // The shown feed's save was requested when it was shown. A few later feeds may be saved, too: one that was
          // being written to the output, and others that waited for that.
          let number = try #require(Generation.number(ofLine: shown))
          #expect(saved >= number, "saved \(saved), shown \(number)")
        }
        times.sort()
        // Under load from other programs, a single run may take longer.
        #expect(times[times.count * 9 / 10] < .seconds(1))
        print("\(times.count) signals \(signal): ended after \(times[times.count / 2]), at most \(times.last!)")
      }
    }

    @Test(.timeLimit(Extent.limit))
    func `closing watch's output at a random moment ends it silently, and shown feeds are saved`() async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        for _ in 0..<Self.signals / 2 {
          let run = try RunningFeed(["watch", url, "--every", "1ms", "--cache", cache.path, "--format", "json"])
          let number = try #require(Generation.number(ofLine: await run.output.line() ?? ""))
          try await Task.sleep(for: .microseconds(Int.random(in: 0...5_000)))
          run.output.close()
          #expect(await run.status() == 128 + SIGPIPE)
          #expect(await run.errors.rest() == "")
          #expect(try #require(try cache.saved()) >= number)
        }
      }
    }
  }
}
