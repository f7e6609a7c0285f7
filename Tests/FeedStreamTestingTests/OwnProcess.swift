import Foundation
import TestSupport

#if os(Linux)
  /// Runs this executable, which contains the tests of the whole package, in its own process.
  func runTests(
    _ arguments: [String], _ variables: [String: String]
  ) throws -> (status: Int32, output: String) {
    let (ending, output) = try ChildProcess.run(
      URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path, arguments,
      environment: ProcessInfo.processInfo.environment.merging(variables) { $1 }, errors: nil)
    return (ending.status, String(decoding: output, as: UTF8.self))
  }
#endif
