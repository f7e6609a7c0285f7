import FeedStreamTesting
import Foundation
import TestSupport
import Testing

/// The diagrams of the documentation are recordings of the operators; `Scripts/diagrams` rewrites them.
@Suite(.settled) struct DiagramTests {
  private static let rows = diagramRows.flatMap(\.rows)
  private static let isWriting = ProcessInfo.processInfo.environment["WRITE_DIAGRAMS"] == "1"
  private static let here = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
  private static let catalog = here.appending(path: "../../Sources/FeedStream/FeedStream.docc").standardized

  @Test(arguments: rows) func `each operator's recorded diagram equals its SVG file`(_ row: DiagramRow) throws {
    try check("Resources/marbles-\(row.name).svg", is: row.draw().svg)
  }

  @Test func `the article shows every diagram`() throws {
    var article = """
      # Marble diagrams

      Diagrams of common operators, recorded from the operators themselves.

      ## Overview

      Time runs from left to right; the shortest distance between two events is one second. The input is above the operator, and
      the output is below it. A bar is the completion, and a cross is a failure. `time` is a scheduler.

      Each drawing is recorded from its operator in a passing test; `Scripts/diagrams` redraws them all.

      """
    for (family, rows) in diagramRows {
      article += "\n## \(family)\n"
      for row in rows { article += "\n![\(row.code)](Resources/marbles-\(row.name).svg)\n" }
    }
    try check("Marbles.md", is: article)
  }

  /// The image must be in the documentation of the operator, or of the type that the diagram explains.
  @Test(arguments: rows) func `each operator's documentation shows its diagram`(_ row: DiagramRow) throws {
    let image = "/// ![\(row.code)](marbles-\(row.name).svg)"
    let places = try DiagramTests.sources.filter { $0.contains(image) }
    #expect(places.count == 1, "\(places.count) files have the line \(image); put it into the operator's comment")
  }

  private static var sources: [String] {
    get throws {
      let folder = catalog.deletingLastPathComponent()
      return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        .map { try String(contentsOf: folder.appending(path: $0), encoding: .utf8) }
    }
  }

  @Test func `every diagram file has a row`() throws {
    let files = try FileManager.default.contentsOfDirectory(
      atPath: DiagramTests.catalog.appending(path: "Resources").path)
    let orphans = files.filter { $0.hasPrefix("marbles-") }.filter { file in
      !DiagramTests.rows.contains { file == "marbles-\($0.name).svg" }
    }
    #expect(orphans == [], "remove these files, or give each a row in DiagramRows.swift")
    #expect(Set(DiagramTests.rows.map(\.name)).count == DiagramTests.rows.count, "two rows write one file")
  }

  /// The box must show the code that was run, which the row has a second time, as code.
  @Test(arguments: rows) func `a diagram's box shows the row's code`(_ row: DiagramRow) throws {
    let lines = try String(contentsOf: DiagramTests.here.appending(path: "DiagramRows.swift"), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    let rest = lines[Int(row.site.line)...]
    let closure = (lines[Int(row.site.line) - 1] + "\n" + rest.prefix { !$0.contains("DiagramRow(") }.joined())
    #expect(closure.filter { !$0.isWhitespace }.contains("source.\(row.code)".filter { !$0.isWhitespace }))
  }

  private func check(_ path: String, is text: String) throws {
    let file = DiagramTests.catalog.appending(path: path)
    if DiagramTests.isWriting {
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: file)
    } else {
      let stored = try? String(contentsOf: file, encoding: .utf8)
      // Compare outside of the expectation, which would print both texts.
      let isFresh = stored == text
      #expect(isFresh, "\(path) is not what the operators draw now; run Scripts/diagrams and look at it")
    }
  }
}
