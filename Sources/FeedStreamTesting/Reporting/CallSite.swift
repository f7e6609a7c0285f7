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

  /// Fails the running test at this position, with Swift Testing or XCTest.
  ///
  /// Outside a test, `IssueReporting` writes the message to standard error.
  func fail(_ message: String) {
    #if !canImport(ObjectiveC)
      // On Linux, the reporter for XCTest can't detect that a test is running, and would add a six-line warning about a
      // test host app to each message.
      if case .xcTest? = TestContext.current, IssueReporters.current.contains(where: { $0 is _DefaultReporter }),
        let fail = _XCTFail() as? @Sendable (String, StaticString, UInt) -> Void
      {
        fail(message, filePath, line)
        return withIssueReporters(IssueReporters.current.filter { !($0 is _DefaultReporter) }) {
          reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
        }
      }
    #endif
    reportIssue(message, fileID: fileID, filePath: filePath, line: line, column: column)
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
