import Foundation
import ImageFeed
import TestSupport
import Testing

extension FaultTests {
  /// The real `feed` with clocks that jump, and suspended.
  @Suite struct ClockTests {
    private static let year = Duration.seconds(365 * 86_400)

    @Test(.timeLimit(Extent.limit), arguments: [year, .zero - year])
    func `setting the wall clock doesn't change a watch's pace, and feeds are saved`(jump: Duration) async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        let clocks = try Clocks("\(folder)-clocks")
        defer { clocks.remove() }
        let run = try RunningFeed(
          ["watch", url, "--every", "50ms", "--cache", cache.path, "--format", "json"], environment: clocks.environment)
        for _ in 1...3 { _ = try #require(await run.output.line()) }
        let began = ContinuousClock.now
        let before = await origin.requests
        clocks.set(wall: jump)
        await origin.wait(for: before + 6)
        let after = await origin.requests
        // No burst: at most one load for each interval that has passed, and one for each of its ends.
        #expect(Duration.milliseconds(50 * (after - before - 2)) <= .now - began)
        // No wait either: the requests arrived before this test's time limit.
        let line = try #require(await run.output.line())
        run.send(SIGINT)
        #expect(await run.status() == 130)
        #expect(await run.errors.rest() == "")
        // The feed saved after the jump has replaced the one saved before.
        let saved = try #require(try cache.saved())
        #expect(saved >= Generation.number(ofLine: line)!)
        let age = try cache.age()
        #expect(jump < .zero ? age > Self.year / 2 : age < .zero - Self.year / 2)
      }
    }

    @Test(.timeLimit(Extent.limit))
    func `a feed saved with a date in the future doesn't block newer feeds`() async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        let clocks = try Clocks("\(folder)-clocks")
        defer { clocks.remove() }
        clocks.set(wall: Self.year)
        _ = try await FeedBinary.run(["load", url, "--cache", cache.path], environment: clocks.environment)
        // The clock has been corrected.
        #expect(try cache.age() < .zero - Self.year / 2)
        let shown = try await FeedBinary.run(["cache", "show", "--cache", cache.path])
        #expect(shown.output.contains("because a clock was wrong"))
        let load = try await FeedBinary.run(["load", url, "--cache", cache.path, "--format", "json"])
        #expect(load.errors == "")
        #expect(try cache.saved() == Generation.number(ofLine: load.output))
        #expect(try cache.age() >= .zero)
        // Offline, a year later, the saved feed has expired.
        await origin.stop()
        let offline = try await FeedBinary.run(["load", url, "--cache", cache.path], environment: clocks.environment)
        #expect(offline.status == 1)
        #expect(offline.errors.contains("has expired"))
      }
    }

    @Test(.timeLimit(Extent.limit), arguments: Extent.isLong ? [year, .seconds(2 * 3600)] : [year])
    func `after the machine sleeps, watch loads once, not once per missed interval`(sleep: Duration) async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        let clocks = try Clocks("\(folder)-clocks")
        defer { clocks.remove() }
        // On a terminal, watch wakes every second for its countdown, and so detects the sleep. Without a terminal, it
        // detects the sleep only after its wait, because the kernel's timers stop while the machine sleeps.
        let run = try RunningFeed(
          ["watch", url, "--every", "1h", "--cache", cache.path, "--format", "json"],
          environment: clocks.environment.merging(["TERM": "xterm"]) { $1 }, terminal: true)
        _ = try #require(await run.output.read(upTo: "]}"))
        // A load lasts until the feed that it has shown is saved; an earlier tick is skipped.
        while try cache.saved() == nil { try await Task.sleep(for: .milliseconds(5)) }
        for _ in 1...2 { _ = try #require(await run.output.read(upTo: "next in")) }
        clocks.set(wall: sleep, monotonic: sleep)
        _ = try #require(await run.output.read(upTo: "]}"))
        // Then watch waits for an hour again, or a little longer.
        _ = try #require(await run.output.read(upTo: "next in "))
        let wait = try #require(await run.output.read(upTo: "m"))
        #expect(wait.hasPrefix("1h") || wait == "59m", "\(wait)")
        run.send(SIGINT)
        #expect(await run.status() == 130)
        #expect(await origin.requests == 2)
      }
    }

    @Test(.timeLimit(Extent.limit))
    func `after SIGSTOP for many intervals, watch loads once`() async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        let run = try RunningFeed(["watch", url, "--every", "200ms", "--cache", cache.path, "--format", "json"])
        _ = try #require(await run.output.line())
        run.send(SIGSTOP)
        try await Task.sleep(for: .milliseconds(1_300))
        // A request that was sent before the signal has been counted by now.
        let before = await origin.requests
        let began = ContinuousClock.now
        run.send(SIGCONT)
        await origin.wait(for: before + 3)
        // Expect one load for the missed intervals, and then one per interval.
        #expect(.now - began > .milliseconds(200))
        run.send(SIGINT)
        #expect(await run.status() == 130)
      }
    }
  }
}

extension CacheUnderTest {
  /// The age of the saved feed, by the correct clock.
  fileprivate func age() throws -> Duration {
    let store = SQLiteFeedStore(path: path)
    defer { store.close() }
    return FeedCachePolicy.age(of: try store.retrieve(for: url)?.timestamp ?? .distantPast, now: Date())
  }
}
