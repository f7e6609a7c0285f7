import Foundation
import TestSupport
import Testing

extension FaultTests {
  /// Killed, and failed by the file system, at every call and at any moment.
  @Suite struct CrashTests {
    private static let deadly: [Walk] =
      [Walk(start: .saved, kind: .kill), Walk(start: .nothing, kind: .kill)]
      + (Extent.isLong
        ? [.killed, .damaged].map { Walk(start: $0, kind: .kill) }
          + [.nothing, .saved, .killed, .damaged].map { Walk(start: $0, kind: .torn) }
          + [.nothing, .saved, .killed, .damaged].map { Walk(start: $0, kind: .kill, calls: .all) }
        : [])

    @Test(.timeLimit(.minutes(5)), arguments: deadly)
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
        // What was saved is durable at some point, and not before the first call.
        #expect(old.contains(attempts.first!.saved))
        #expect(attempts.last!.saved == Walk.new)
        print("\(walk.testDescription): \(attempts.count) calls")
      }
    }

    private static let failing: [Walk] =
      [
        Walk(start: .saved, kind: .inputOutput), Walk(start: .saved, kind: .noSpace, lasts: true),
        Walk(start: .saved, kind: .noDescriptor),
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

    @Test(.timeLimit(.minutes(5)), arguments: failing)
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
          // That a damaged file was set aside is told as well, when the save that follows goes well.
          let isTold = attempt.ending.errors.split(separator: "\n")
            .contains { $0.contains("Warning: Cannot ") && !$0.contains("has been renamed") }
          if isTold {
            warnings += 1
            #expect(old.contains(attempt.saved), "\(attempt)")
          } else {
            #expect(attempt.saved == Walk.new, "\(attempt)")
          }
        }
        // A write that falls short is made good, a descriptor is waited for, and what was not permitted is tried again.
        let isMadeGood =
          walk.kind == .short || walk.kind == .noDescriptor || (walk.kind == .noPermission && !walk.lasts)
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

    @Test(.timeLimit(.minutes(5)), arguments: starring)
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

    @Test(.timeLimit(.minutes(5)), arguments: searching)
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
