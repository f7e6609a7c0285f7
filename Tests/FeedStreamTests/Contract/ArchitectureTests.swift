import Foundation
import TestSupport
import Testing

/// The drawings of `docs/Architecture.md` agree with the sources.
@Suite(.settled) struct ArchitectureTests {
  private static let project = URL(filePath: #filePath).resolvingSymlinksInPath()
    .appending(path: "../../../..").standardized

  /// The lines of a drawing's description.
  private static func description(of diagram: String) throws -> [Substring] {
    let text = try String(contentsOf: project.appending(path: "docs/images/\(diagram).svg"), encoding: .utf8)
    let parts = text.components(separatedBy: "<desc>\n")
    return try #require(parts.last?.components(separatedBy: "\n</desc>").first).split(separator: "\n")
  }

  private static func sources(in folders: [String]) throws -> [String] {
    try folders.flatMap { folder in
      let url = project.appending(path: folder)
      let files = try #require(FileManager.default.enumerator(atPath: url.path), "no folder \(folder)")
      return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
        .map { try String(contentsOf: url.appending(path: $0), encoding: .utf8) }
    }
  }

  @Test func `the page's family tree matches the engine's classes`() throws {
    // Each class of the engine, with its superclass.
    var parents: [String: String] = [:]
    for text in try Self.sources(in: ["Sources/FeedStream/Core", "Sources/FeedStream/Engine"]) {
      for match in text.matches(of: /\bclass (\w+)(?:<[^{]*?>)?:\s*(\w+)/) {
        parents[String(match.1)] = String(match.2)
      }
    }
    var drawn: [String: String] = [:]
    var path: [String] = []
    for line in try Self.description(of: "stages") {
      let depth = line.prefix { $0 == " " }.count / 2
      path = path.prefix(depth) + [line.trimmingCharacters(in: [" "])]
      drawn[path[depth]] = depth > 0 ? path[depth - 1] : ""
    }
    #expect(drawn.removeValue(forKey: "FusedStage") == "")
    for (name, parent) in drawn {
      let actual = try #require(parents[name], "\(name) is drawn and not there; run Scripts/architecture")
      #expect(parent == (parents[actual] != nil || drawn[actual] != nil ? actual : ""), "\(name)")
    }
    let missing = parents.keys.filter { $0.hasSuffix("Stage") && drawn[$0] == nil }
    #expect(missing.isEmpty, "these stages are not drawn; run Scripts/architecture")
    #expect(drawn.count > 10)
  }

  @Test func `the types and functions in the architecture's diagrams exist`() throws {
    let sources = try Self.sources(in: ["Sources", "Examples/feed"]).joined(separator: "\n")
    let types = try #require(try Self.description(of: "value").first).dropFirst("types: ".count).split(separator: ", ")
    let stations = try Self.description(of: "feed-way").filter { $0.hasPrefix("  ") }
      .compactMap { $0.split { $0 == " " || $0 == ":" }.first }
    #expect(types.count == 4)
    #expect(stations.count > 12)
    for name in types + stations {
      let kinds = ["class", "struct", "enum", "protocol", "func"]
      let isDeclared = kinds.contains { kind in
        sources.ranges(of: "\(kind) \(name)").contains { range in
          sources[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber } ?? true
        }
      }
      #expect(isDeclared, "\(name) is drawn and not there; correct Scripts/architecture and run it")
    }
  }

  @Test func `docs/Architecture.md names every folder of the streams`() throws {
    let page = try String(contentsOf: Self.project.appending(path: "docs/Architecture.md"), encoding: .utf8)
    for folder in ["Sources/FeedStream", "Sources/FeedStream/Engine"] {
      let url = Self.project.appending(path: folder)
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path) where !name.contains(".") {
        #expect(page.contains("`\(name)`"), "docs/Architecture.md does not name \(folder)/\(name)")
      }
    }
    for name in ["Sources", "Examples"] {
      let url = Self.project.appending(path: name)
      for folder in try FileManager.default.contentsOfDirectory(atPath: url.path) where !folder.contains(".") {
        let isNamed = ["`\(name)/\(folder)`", "`\(name)/\(folder)/`", "`\(folder)`"].contains { page.contains($0) }
        #expect(isNamed || folder == "Samples", "docs/Architecture.md does not name \(name)/\(folder)")
      }
    }
  }
}
