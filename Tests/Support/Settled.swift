import Testing

/// Has a suite's tests leave the process as they found it: whatever event loops, connections, origins, databases and files
/// they open are closed when they are over.
///
/// Tests run side by side and share their process's descriptors, so that those are compared whenever no test runs, at the
/// latest after the last; what is found then is one of the tests' since the time before. Subscriptions and other objects
/// that nobody holds any more are for `Scripts/sanitize leaks` to find, and in virtual time for `withVirtualTime`.
package struct Settled: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
  ) async throws {
    Descriptors.testBegins(test.name)
    do {
      try await body()
    } catch {
      await Descriptors.testEnds { Issue.record(Comment(rawValue: $0)) }
      throw error
    }
    await Descriptors.testEnds { Issue.record(Comment(rawValue: $0)) }
  }
}

extension Trait where Self == Settled {
  /// See ``Settled``.
  package static var settled: Settled { Settled() }
}
