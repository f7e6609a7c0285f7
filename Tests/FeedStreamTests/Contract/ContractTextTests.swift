import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// Checks that `CONTRACT.md` agrees with the code.
@Suite(.settled) struct ContractTextTests {
  private let project = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

  private func contract() throws -> String {
    try String(contentsOf: project.appending(path: "CONTRACT.md"), encoding: .utf8)
  }

  @Test func `the contract's table of rules equals StreamRule.table`() throws {
    #expect(try contract().contains("\n\n\(StreamRule.table)\n\n"))
  }

  @Test func `the tests that the contract names exist`() throws {
    let lines = try contract().split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("Tests`: `") }
    // A sentence in backticks is the name of a test.
    let names = lines.flatMap { $0.split(separator: "`").filter { $0.contains(" ") && $0.first?.isLetter == true } }
    #expect(Set(lines.compactMap { Int($0.dropFirst(2).prefix { $0.isNumber }) }) == Set(1...10))
    let files = try #require(FileManager.default.enumerator(atPath: project.appending(path: "Tests").path))
    var sources = ""
    for case let file as String in files where file.hasSuffix(".swift") {
      sources += try String(contentsOf: project.appending(path: "Tests/\(file)"), encoding: .utf8)
    }
    #expect(names.count > 10)
    for name in names { #expect(sources.contains("func `\(name)`("), "no test has this name: \(name)") }
  }
}
