import FeedStreamTesting
import IssueReporting
import Synchronization

/// Records the failures that `body` reports, with their lines, instead of failing the test.
func failures(_ body: () throws -> Void) rethrows -> [FailureLog.Failure] {
  let log = FailureLog()
  try withIssueReporters([log], operation: body)
  return log.failures
}

final class FailureLog: IssueReporter {
  struct Failure {
    let message: String
    let line: UInt
  }
  private let state = Mutex<[Failure]>([])

  var failures: [Failure] { state.withLock { $0 } }

  func reportIssue(
    _ message: @autoclosure () -> String?, severity: IssueSeverity, fileID: StaticString, filePath: StaticString,
    line: UInt, column: UInt
  ) {
    let failure = Failure(message: message() ?? "", line: line)
    state.withLock { $0.append(failure) }
  }

  func reportIssue(
    _ error: any Error, _ message: @autoclosure () -> String?, severity: IssueSeverity, fileID: StaticString,
    filePath: StaticString, line: UInt, column: UInt
  ) {
    let failure = Failure(message: "\(error) \(message() ?? "")", line: line)
    state.withLock { $0.append(failure) }
  }
}
