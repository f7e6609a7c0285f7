import Testing

/// Checks that a suite's tests close the event loops, connections, origins, databases and files that they open.
///
/// Tests run side by side and share their process's descriptors, so those are compared whenever no test runs, at the
/// latest after the last; a leak found then belongs to one of the tests since the last comparison. For leaked
/// subscriptions and other objects, use `Scripts/sanitize leaks`, and in virtual time `withVirtualTime`.
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
