import Foundation
import TestSupport
import Testing

@Suite(.settled) struct EverySuiteTests {
  @Test func `every suite looks whether its tests leave anything behind`() throws {
    let root = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../..").standardized
    var (suites, careless): (Int, [String]) = (0, [])
    for folder in ["Tests", "Examples"] {
      let files = try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
      for case let file as String in files where file.hasSuffix(".swift") {
        let text = try String(contentsOf: root.appending(path: folder).appending(path: file), encoding: .utf8)
        // At the beginning of a line, not in words about one.
        for attribute in ("\n" + text).components(separatedBy: "\n@" + "Suite").dropFirst() {
          let attributes = attribute.components(separatedBy: "struct ")[0]
          suites += 1
          if !attributes.contains(".settled") { careless.append("\(folder)/\(file)") }
        }
        if text.contains("\n  @" + "Test"), !text.contains("@" + "Suite"), !text.contains("\nextension ") {
          careless.append("\(folder)/\(file): tests outside of a suite")
        }
      }
    }
    #expect(careless.isEmpty, "add .settled to each")
    #expect(suites > 60)
  }
}
