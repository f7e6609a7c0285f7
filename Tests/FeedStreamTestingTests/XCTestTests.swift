import FeedStream
import FeedStreamTesting
import Foundation
import TestSupport
import Testing
import XCTest

/// Failures in XCTest: an XCTest test with a broken expectation, in its own process.
@Suite(.settled) struct XCTestTests {
  #if os(Linux)
    @Test func `a failure is recorded on the line of an XCTest, once`() throws {
      let (status, output) = try run(["DIAGRAM": "1-3|"])
      #expect(status != 0)
      #expect(
        output.contains(
          """
          XCTestTests.swift:\(ComparingXCTests.line): error: ComparingXCTests.testADiagramIsCompared : failed - \
          The stream differs from the diagram at 2ms:
          expected  1-3|
          actual    1-2|
                      ^
          To paste: "1-2|"
          Test Case 'ComparingXCTests.testADiagramIsCompared' failed
          """), "\(output)")
      #expect(try run([:]).status == 0)
    }

    private func run(_ variables: [String: String]) throws -> (status: Int32, output: String) {
      try runTests(["FeedStreamTestingTests.ComparingXCTests/testADiagramIsCompared"], variables)
    }
  #endif
}

final class ComparingXCTests: XCTestCase {
  static let line = #line + 6

  func testADiagramIsCompared() {
    let diagram = ProcessInfo.processInfo.environment["DIAGRAM"] ?? "1-2|"
    let time = VirtualTimeScheduler()
    let source: ScriptedPublisher<Int, MarbleFailure> = time.cold("1-2|")
    expectMarbles(source, on: time, diagram)
  }
}
