import Foundation
import TestSupport
import Testing

extension FaultTests {
  /// Runs that are killed, or in which a system call fails, at every call.
  @Suite struct CrashTests {
    private static let deadly: [Walk] =
      [.saved, .nothing, .damaged].map { Walk(start: $0, kind: .kill) }
      + (Extent.isLong
        ? [Walk(start: .killed, kind: .kill)]
          + [.nothing, .saved, .killed, .damaged].map { Walk(start: $0, kind: .torn) }
          + [.nothing, .saved, .killed, .damaged].map { Walk(start: $0, kind: .kill, calls: .all) }
        : [])

    @Test(.timeLimit(Extent.limit), arguments: deadly)
    func `killed at any system call, the cache holds the old feed or the new one, complete`(walk: Walk) async throws {
      try await withBench { folder, origin, url in
        await origin.choose(Walk.new)
        let attempts = try await walk.attempts(in: folder, at: url)
        #expect(attempts.count > 15)
        let old: [Int?] = walk.start == .saved || walk.start == .killed ? [Walk.old] : [nil]
        for attempt in attempts {
          #expect(attempt.ending.status == 128 + SIGKILL, "\(attempt)")
          #expect((old + [Walk.new]).contains(attempt.saved), "\(attempt)")
        }
        // The new feed is durable from some call on, but not before the first one.
        #expect(old.contains(attempts.first!.saved))
        #expect(attempts.last!.saved == Walk.new)
        print("\(walk.testDescription): \(attempts.count) calls")
      }
    }

    private static let failing: [Walk] =
      [
        Walk(start: .saved, kind: .inputOutput), Walk(start: .saved, kind: .noSpace, lasts: true),
        Walk(start: .saved, kind: .noDescriptor), Walk(start: .damaged, kind: .inputOutput),
      ]
      + (Extent.isLong
        ? [.nothing, .saved, .killed, .damaged].flatMap { start in
          [.inputOutput, .noSpace, .noPermission].flatMap { kind in
            [false, true].map { Walk(start: start, kind: kind, lasts: $0) }
          } + [
            Walk(start: start, kind: .short), Walk(start: start, kind: .noDescriptor),
            Walk(start: start, kind: .inputOutput, calls: .all),
          ]
        } : [])

    @Test(.timeLimit(Extent.limit), arguments: failing)
    func `whichever system call fails, the feed is shown, the error reported and the old feed kept`(walk: Walk)
      async throws
    {
      try await withBench { folder, origin, url in
        await origin.choose(Walk.new)
        let attempts = try await walk.attempts(in: folder, at: url)
        #expect(attempts.count > 15 || walk.lasts)
        let old: [Int?] = walk.start == .saved || walk.start == .killed ? [Walk.old] : [nil]
        var warnings = 0
        for attempt in attempts {
          #expect(attempt.ending.status == 0, "\(attempt)")
          #expect(Generation.number(ofLine: attempt.ending.output) == Walk.new, "\(attempt)")
          // If the save succeeds afterwards, the renaming of a damaged file is reported, too.
          let told = attempt.ending.errors.split(separator: "\n")
            .filter { $0.contains("Warning: Cannot ") && !$0.contains("has been renamed") }
          if !told.isEmpty {
            warnings += 1
            // A save may succeed although a read before or after it fails.
            let isSaved = told.allSatisfy { $0.contains("Cannot read ") } && attempt.saved == Walk.new
            #expect(old.contains(attempt.saved) || isSaved, "\(attempt)")
          } else {
            #expect(attempt.saved == Walk.new, "\(attempt)")
          }
        }
        // The program completes a short write, waits for a descriptor, and retries a call that was not permitted, but
        // not the renaming of a damaged file.
        let isRetried = walk.kind == .noPermission && !walk.lasts && walk.start != .damaged
        let isMadeGood = walk.kind == .short || walk.kind == .noDescriptor || isRetried
        #expect(isMadeGood ? warnings == 0 : warnings > 0)
        print("\(walk.testDescription): \(attempts.count) calls, \(warnings) of them told")
      }
    }

    private static let starring: [Walk] =
      [Walk(start: .saved, kind: .kill, command: .star), Walk(start: .saved, kind: .noSpace, command: .star)]
      + (Extent.isLong
        ? [.kill, .torn].map { Walk(start: .killed, kind: $0, command: .star) }
          + [.torn, .inputOutput, .noPermission].map { Walk(start: .saved, kind: $0, command: .star) }
          + [Walk(start: .saved, kind: .kill, calls: .all, command: .star)] : [])

    @Test(.timeLimit(Extent.limit), arguments: starring)
    func `whichever system call fails in star, it is set or the error reported, and nothing else changes`(walk: Walk)
      async throws
    {
      try await withBench { folder, _, url in
        let attempts = try await walk.attempts(in: folder, at: url)
        #expect(attempts.count > 5)
        for attempt in attempts {
          #expect(attempt.saved == walk.start.known.map { $0 + (walk.start == .killed ? 1 : 0) }.first, "\(attempt)")
          if walk.kind.isDeadly {
            #expect(attempt.ending.status == 128 + SIGKILL, "\(attempt)")
          } else {
            #expect(attempt.isStarred == (attempt.ending.status == 0), "\(attempt)")
            #expect(attempt.isStarred == attempt.ending.output.hasPrefix("Starred "), "\(attempt)")
          }
        }
        if walk.kind.isDeadly { #expect(attempts.first?.isStarred == false && attempts.last?.isStarred == true) }
        print("\(walk.testDescription): \(attempts.count) calls")
      }
    }

    private static let searching: [Walk] =
      [Walk(start: .saved, kind: .kill, command: .search)]
      + (Extent.isLong
        ? [Walk(start: .killed, kind: .torn, command: .search), Walk(start: .saved, kind: .noSpace, command: .search)]
        : [])

    @Test(.timeLimit(Extent.limit), arguments: searching)
    func `whichever system call fails in search, no data is lost and existing items are found`(walk: Walk) async throws
    {
      try await withBench { folder, _, url in
        let attempts = try await walk.attempts(in: folder, at: url)
        #expect(attempts.count > 5)
        for attempt in attempts where !walk.kind.isDeadly {
          #expect((attempt.ending.status == 0) == attempt.ending.output.contains("\n"), "\(attempt)")
        }
        print("\(walk.testDescription): \(attempts.count) calls")
      }
    }
  }
}
