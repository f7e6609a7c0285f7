import Synchronization

#if canImport(IssueReporting)
  import IssueReporting
  import IssueReportingTestSupport
#else
  #error("FeedStreamTesting needs the Testing trait: .package(url: …, traits: [\"Testing\"])")
#endif

/// A position in a test's source, where a failure is shown.
public struct CallSite: Sendable, CustomStringConvertible {
  public var fileID: StaticString
  public var filePath: StaticString
  public var line: UInt
  public var column: UInt

  /// The position of this call.
  public init(
    fileID: StaticString = #fileID, filePath: StaticString = #filePath, line: UInt = #line, column: UInt = #column
  ) {
    self.fileID = fileID
    self.filePath = filePath
    self.line = line
    self.column = column
  }

  /// The file and the line, as `Module/File.swift:12`.
  public var description: String { "\(fileID):\(line)" }

  /// Fails the running test at this position, with Swift Testing or XCTest. On a thread or task that isn't the test's,
  /// Swift Testing can't tell which test failed, and fails the whole run.
  ///
  /// Outside a process that runs tests, `IssueReporting` writes the message to standard error. In a process that runs
  /// XCTest's tests, XCTest drops the message while no test runs.
  func fail(_ message: String) {
    #if !canImport(ObjectiveC)
      Self.noteTest()
      // On Linux, the default reporter takes everything outside a Swift Testing test's own task for XCTest. An XCTest
      // failure is dropped when no XCTest test is running. When one is, the reporter can't detect it, and would add a
      // six-line warning about a test host app to each message.
      if case .xcTest? = TestContext.current, IssueReporters.current.contains(where: { $0 is _DefaultReporter }),
        let fail = Self.runsSwiftTesting ? Self.failRun : Self.failXCTest
      {
        fail(message, self)
        return withIssueReporters(IssueReporters.current.filter { !($0 is _DefaultReporter) }) {
          reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
        }
      }
    #endif
    reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
  }

  #if !canImport(ObjectiveC)
    /// Fails the test that XCTest runs.
    private static let failXCTest: (@Sendable (String, CallSite) -> Void)? = {
      guard let fail = _XCTFail() as? @Sendable (String, StaticString, UInt) -> Void else { return nil }
      return { fail($0, $1.filePath, $1.line) }
    }()

    /// Fails the run of Swift Testing.
    private static let failRun: (@Sendable (String, CallSite) -> Void)? = {
      typealias Record = @Sendable (String?, Int, String, String, Int, Int) -> Void
      guard let record = _recordIssue() as? Record else { return nil }
      // 1 is the severity of an error.
      return { record($0, 1, "\($1.fileID)", "\($1.filePath)", Int($1.line), Int($1.column)) }
    }()

    /// True if this process runs Swift Testing's tests. The package manager's runner has this option; other runners are
    /// recognized by a test that they run (``noteTest()``).
    private static var runsSwiftTesting: Bool { hasOption || hasTest.load(ordering: .relaxed) }

    private static let hasOption = zip(CommandLine.arguments, CommandLine.arguments.dropFirst()).contains {
      $0 == "--testing-library" && $1.lowercased() == "swift-testing"
    }
    private static let hasTest = Atomic(false)
  #endif

  /// Records that this process runs Swift Testing's tests, if this task is such a test's.
  static func noteTest() {
    #if !canImport(ObjectiveC)
      if !runsSwiftTesting, case .swiftTesting? = TestContext.current { hasTest.store(true, ordering: .relaxed) }
    #endif
  }
}

extension CallSite: Hashable {
  public static func == (lhs: CallSite, rhs: CallSite) -> Bool {
    lhs.line == rhs.line && lhs.column == rhs.column && lhs.fileID.description == rhs.fileID.description
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(line)
    hasher.combine(column)
  }
}
