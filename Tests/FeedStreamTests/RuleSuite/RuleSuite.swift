import FeedStream
import FeedStreamTesting
import Foundation
import Testing

@Suite(.settled) struct RuleSuite {
  static let rows =
    transformingRows + filteringRows + reducingRows + combiningRows + errorRows + timingRows + sharingRows + effectRows
    + publisherRows + beyondRows

  @Test(arguments: rows) func keepsTheRules(_ row: RuleRow) {
    let summary = row.verify()
    #expect(summary.scripts > 0)
  }

  @Test(arguments: ["Operators", "Publishers"]) func everyFileHasARow(_ folder: String) throws {
    let sources = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../../Sources/FeedStream")
      .standardized
    let files = try #require(FileManager.default.enumerator(atPath: sources.appending(path: folder).path))
    let names = files.compactMap {
      ($0 as? String).flatMap { $0.hasSuffix(".swift") ? "\(folder)/\($0.dropLast(6))" : nil }
    }
    try #require(!names.isEmpty)
    let listed = Set(RuleSuite.rows.map(\.file)).union(RuleSuite.withoutRow.keys)
    #expect(Set(names).subtracting(listed).sorted() == [], "add a row for each, or say in withoutRow why not")
    #expect(listed.filter { $0.hasPrefix(folder) }.subtracting(names).sorted() == [], "these rows name no file")
  }

  /// The files that need no row, and why.
  static let withoutRow = [
    "Publishers/Sequence+Operators": "computes another sequence, whose publisher has a row",
    "Publishers/ConstantPublisher": "computes another constant, whose publisher has a row",
  ]
}
