import Foundation
import TestSupport
import Testing

/// The pages of the repository lead where they say.
@Suite(.settled) struct PagesTests {
  private static let project = URL(filePath: #filePath).resolvingSymlinksInPath()
    .appending(path: "../../../..").standardized

  /// The pages that people read on the web: all but those of the documentation, whose links the documentation checks.
  private static var pages: [String] {
    get throws {
      let folders = [("", false), ("docs", true), ("Benchmarks", false), ("Examples", true), ("Integrations", true)]
      return try folders.flatMap { folder, isDeep -> [String] in
        let url = project.appending(path: folder)
        guard let files = FileManager.default.enumerator(atPath: url.path) else { return [] }
        var pages: [String] = []
        for case let file as String in files {
          let isHidden = file.split(separator: "/").last?.hasPrefix(".") == true
          if !isDeep || isHidden, files.fileAttributes?[.type] as? FileAttributeType == .typeDirectory {
            files.skipDescendants()
          }
          if file.hasSuffix(".md") { pages.append(folder.isEmpty ? file : "\(folder)/\(file)") }
        }
        return try #require(folder == "Integrations" || !pages.isEmpty ? pages : nil, "\(folder)")
      }
    }
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: project.appending(path: path), encoding: .utf8)
  }

  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: Self.project.appending(path: path).standardized.path)
  }

  @Test func `every link and picture of a page is there`() throws {
    for page in try Self.pages {
      let folder = page.split(separator: "/").dropLast().map { $0 + "/" }.joined()
      for link in try Self.text(page).matches(of: /\]\(([^)#\s]+)/).map({ String($0.1) }) where !link.contains("://") {
        #expect(exists(folder + link), "\(page) links to \(link)")
      }
    }
  }

  @Test func `every script that a page names is there, and CONTRIBUTING names every script`() throws {
    for page in try Self.pages {
      for script in try Self.text(page).matches(of: /Scripts\/[\w.\-]+/).map({ String($0.output) }) {
        let name = script.hasSuffix(".") ? String(script.dropLast()) : script
        #expect(exists(name), "\(page) names \(name)")
      }
    }
    let contributing = try Self.text("CONTRIBUTING.md")
    let scripts = Self.project.appending(path: "Scripts")
    for script in try FileManager.default.contentsOfDirectory(atPath: scripts.path) {
      let isFolder = try scripts.appending(path: script).resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true
      // What others source or call.
      if isFolder || ["setup", "symbols", "drawing.py"].contains(script) { continue }
      let isNamed = contributing.contains("`Scripts/\(script)")
      #expect(isNamed, "CONTRIBUTING does not name Scripts/\(script)")
    }
  }

  /// Named with as much of its path as says which one is meant: `Timing/Delay.swift`.
  @Test func `every Swift file that a page names is there`() throws {
    let files = try ["Sources", "Tests", "Examples", "Fuzzing", "Benchmarks"].flatMap { folder in
      let found = FileManager.default.enumerator(atPath: Self.project.appending(path: folder).path)
      return try #require(found).compactMap { ($0 as? String).map { "/\(folder)/\($0)" } }
    }.filter { $0.hasSuffix(".swift") }
    for page in try Self.pages {
      for name in try Self.text(page).matches(of: /`([\w+\/]+\.swift)`/).map({ String($0.1) }) {
        // The reader's own.
        if name.hasPrefix("Sources/App/") || name == "Package.swift" { continue }
        let isThere = files.contains { $0.hasSuffix("/\(name)") }
        #expect(isThere, "\(page) names \(name)")
      }
    }
  }

  @Test func `the bars of the README are those of the results`() throws {
    let picture = try Self.text("docs/pictures/speed.svg")
    let lines = try Self.text("Benchmarks/RESULTS.md").split(separator: "\n")
    for row in ["map.filter.map", "16 mixed", "a subject to 100"] {
      let line = try #require(lines.first { $0.hasPrefix("| \(row) |") }, "no row \(row)")
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: [" "]) }
      let bars = "by hand \(cells[3]) ns, FeedStream \(cells[2]) ns, OpenCombine \(cells[5]) ns"
      #expect(picture.contains(bars), "\(row) is not drawn as it is recorded; run Scripts/pictures speed")
    }
  }
}
