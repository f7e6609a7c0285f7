import Foundation
import TestSupport
import Testing

/// Checks the tests themselves: they are in the expected files, read as sentences, and leave nothing behind.
@Suite(.settled) struct EverySuiteTests {
  private let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

  /// The Swift files in `folder` of the project, with their texts.
  private func sources(in folder: String) throws -> [(file: String, text: String)] {
    let place = root.appending(path: folder)
    let files = try #require(FileManager.default.enumerator(atPath: place.path))
    return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted().map {
      ("\(folder)/\($0)", try String(contentsOf: place.appending(path: $0), encoding: .utf8))
    }
  }

  /// Operators' files without a suite of the same name, and the suites that test them.
  private static let testedElsewhere = [
    "Combining/MergeByArity": "Combining/MergeTests",
    // This operator stops in a debugger.
    "Effects/Breakpoint": "../../RuleTests/RuleSuite",
    "Reducing/PredicateReduction": "Reducing/ContainsTests",
    // Only for the compiler's messages.
    "OtherNames": "../../SnippetTests/SnippetTests",
  ]

  @Test func `every operator has a suite with its name, in the corresponding folder`() throws {
    let suites = root.appending(path: "Tests/FeedStreamTests/Operators")
    func has(_ suite: String) throws -> Bool {
      let file = suites.appending(path: suite + ".swift").standardized
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { return false }
      return text.contains(" struct \(suite.split(separator: "/").last!) {") && text.contains("@" + "Test")
    }
    let operators = try sources(in: "Sources/FeedStream/Operators").map {
      String($0.file.dropFirst("Sources/FeedStream/Operators/".count).dropLast(".swift".count))
    }
    #expect(operators.count > 70)
    for name in operators {
      let own = try has(name + "Tests")
      if let other = Self.testedElsewhere[name] {
        #expect(!own, "\(name) has a suite; take it off the list of those that have none")
        #expect(try has(other), "\(name) is said to be tested by \(other), which is not there")
      } else {
        #expect(own, "add Tests/FeedStreamTests/Operators/\(name)Tests.swift")
      }
    }
    #expect(Set(Self.testedElsewhere.keys).isSubset(of: operators), "there is no such operator any more")
    let mirrored = Set(operators.map { "Tests/FeedStreamTests/Operators/\($0)Tests.swift" })
    let lost = try sources(in: "Tests/FeedStreamTests/Operators").map(\.file).filter { !mirrored.contains($0) }
    #expect(lost.isEmpty, "these suites are named after no operator")
  }

  @Test func `every test's name is a sentence`() throws {
    var (tests, mute): (Int, [String]) = (0, [])
    for (file, text) in try ["Tests", "Examples"].flatMap(sources(in:)) {
      for attribute in ("\n" + text).components(separatedBy: "\n  @" + "Test").dropFirst() {
        guard let declaration = attribute.range(of: "func ") else { continue }
        tests += 1
        let name = attribute[declaration.upperBound...]
        let sentence = name.first == "`" ? name.dropFirst().prefix { $0 != "`" } : ""
        if attribute.hasPrefix("(\"") || !sentence.contains(" ") {
          mute.append("\(file): \(name.prefix { $0 != "(" })")
        }
      }
    }
    #expect(mute.isEmpty, "write what holds, in backticks")
    #expect(tests > 700)
  }

  @Test func `every suite has the trait .settled`() throws {
    var (suites, careless): (Int, [String]) = (0, [])
    for (file, text) in try ["Tests", "Examples"].flatMap(sources(in:)) {
      // Match the attribute at the beginning of a line, not in a comment.
      for attribute in ("\n" + text).components(separatedBy: "\n@" + "Suite").dropFirst() {
        let attributes = attribute.components(separatedBy: "struct ")[0]
        suites += 1
        if !attributes.contains(".settled") { careless.append(file) }
      }
      if text.contains("\n  @" + "Test"), !text.contains("@" + "Suite"), !text.contains("\nextension ") {
        careless.append("\(file): tests outside of a suite")
      }
    }
    #expect(careless.isEmpty, "add .settled to each")
    #expect(suites > 60)
  }
}
