import Foundation
import ImageFeed
import TestSupport
import Testing

extension FaultTests {
  /// Many processes that share one cache file.
  @Suite struct ManyProcessesTests {
    private static let rounds = Extent.isLong ? 20 : 2

    @Test(.timeLimit(Extent.limit))
    func `thirty-two processes load and save in one cache`() async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        for _ in 0..<Self.rounds {
          let endings = try await withThrowingTaskGroup(of: FeedBinary.Ending.self) { group in
            for _ in 0..<32 {
              group.addTask { try await FeedBinary.run(["load", url, "--cache", cache.path, "--format", "json"]) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
          }
          for ending in endings {
            #expect(ending.status == 0)
            #expect(ending.errors == "")
            #expect(Generation.number(ofLine: ending.output) != nil)
          }
          #expect(Set(endings.map { Generation.number(ofLine: $0.output) }).count == 32)
        }
        #expect(try #require(try cache.examine()) <= 32 * Self.rounds)
        #expect(await origin.requests == 32 * Self.rounds)
      }
    }

    private static let minute = Extent.isLong ? Duration.seconds(60) : .seconds(3)

    @Test(.timeLimit(Extent.limit))
    func `two watches and repeated validations share a cache without errors`() async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        try cache.save(0)
        let watches = try (0..<2).map { _ in
          try RunningFeed(
            ["watch", url, "--every", "1ms", "--cache", cache.path, "--format", "json"], patience: 300)
        }
        for watch in watches { _ = try #require(await watch.output.line()) }
        let end = ContinuousClock.now + Self.minute
        var (validations, last) = (0, 0)
        while .now < end {
          let validation = try await FeedBinary.run(["cache", "validate", "--cache", cache.path])
          #expect(validation.output == "\(url): valid\n" && validation.errors == "" && validation.status == 0)
          validations += 1
          let saved = try #require(try cache.saved())
          #expect(saved >= last)
          last = saved
        }
        for watch in watches { watch.send(SIGINT) }
        var shown = 0
        for watch in watches {
          let ending = await watch.ending()
          #expect(ending.status == 130)
          #expect(ending.errors == "")
          // The signal may have cut off the last line.
          let numbers = ending.output.split(separator: "\n").filter { $0.hasSuffix("]}") }
            .map { Generation.number(ofLine: String($0)) }
          #expect(!numbers.contains(nil))
          #expect(numbers.compactMap(\.self) == numbers.compactMap(\.self).sorted())
          shown += numbers.count
        }
        #expect(shown > 10)
        _ = try cache.examine()
        print("\(Self.minute): \(shown) feeds shown and saved, \(validations) validations")
      }
    }

    @Test(.timeLimit(Extent.limit))
    func `a late response doesn't replace the response to a later request`() async throws {
      try await withBench { folder, origin, url in
        let cache = CacheUnderTest(folder, url)
        await origin.hold(next: 1)
        let early = try RunningFeed(["load", url, "--cache", cache.path, "--format", "json"])
        await origin.wait(for: 1)
        let late = try await FeedBinary.run(["load", url, "--cache", cache.path, "--format", "json"])
        #expect(Generation.number(ofLine: late.output) == 2)
        await origin.letGo(1)
        let ending = await early.ending()
        // The late response is still shown by the process that requested it.
        #expect(Generation.number(ofLine: ending.output) == 1)
        #expect(ending.errors == "" && ending.status == 0)
        #expect(try cache.examine() == 2)
      }
    }
  }
}
