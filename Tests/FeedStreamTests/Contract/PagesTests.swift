import Foundation
import TestSupport
import Testing

/// The links of the repository's pages lead to existing targets.
@Suite(.settled) struct PagesTests {
  private static let project = URL(filePath: #filePath).resolvingSymlinksInPath()
    .appending(path: "../../../..").standardized

  /// The pages that people read on the web: all except those of the documentation, whose links DocC checks.
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

  @Test func `every link and image in the pages exists`() throws {
    for page in try Self.pages {
      let folder = page.split(separator: "/").dropLast().map { $0 + "/" }.joined()
      for link in try Self.text(page).matches(of: /\]\(([^)#\s]+)/).map({ String($0.1) }) where !link.contains("://") {
        #expect(exists(folder + link), "\(page) links to \(link)")
      }
    }
  }

  /// The anchor that repository websites use for a heading: in lower case, without punctuation, with hyphens for
  /// spaces.
  private static func anchor(_ heading: Substring) -> String {
    String(heading.lowercased().filter { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" || $0 == " " })
      .replacing(" ", with: "-")
  }

  @Test func `every link to a heading in the pages exists`() throws {
    var count = 0
    for page in try Self.pages {
      let folder = page.split(separator: "/").dropLast().map { $0 + "/" }.joined()
      for link in try Self.text(page).matches(of: /\]\(([^)#\s]*)#([^)\s]+)\)/) where !link.1.contains("://") {
        let target = link.1.isEmpty ? page : folder + link.1
        let headings = try Self.text(target).matches(of: /(?m)^#+ (.*)$/).map { Self.anchor($0.1) }
        #expect(headings.contains(String(link.2)), "\(page) links to \(target)#\(link.2)")
        count += 1
      }
    }
    #expect(count > 5)
  }

  @Test func `docs/Operators.md has every operator, without DocC's link syntax`() throws {
    let page = try Self.text("docs/Operators.md")
    #expect(!page.contains("doc:") && !page.contains("``"))
    let article = try Self.text("Sources/FeedStream/FeedStream.docc/WhichOperator.md")
    let titles = article.matches(of: /\[([^\]]+)\]\(doc:/).map { String($0.1) }
    #expect(titles.count > 90)
    for title in titles { #expect(page.contains("[\(title)]("), "run Scripts/operators: \(title) is missing") }
  }

  @Test func `every script named in the pages exists, and CONTRIBUTING.md names every script`() throws {
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
      // Skip files that other scripts source or call.
      if isFolder || ["setup", "symbols", "drawing.py"].contains(script) { continue }
      let isNamed = contributing.contains("`Scripts/\(script)")
      #expect(isNamed, "CONTRIBUTING does not name Scripts/\(script)")
    }
  }

  /// A page names a file with as much of its path as necessary: `Timing/Delay.swift`.
  @Test func `every Swift file named in the pages exists`() throws {
    let files = try ["Sources", "Tests", "Examples", "Fuzzing", "Benchmarks"].flatMap { folder in
      let found = FileManager.default.enumerator(atPath: Self.project.appending(path: folder).path)
      return try #require(found).compactMap { ($0 as? String).map { "/\(folder)/\($0)" } }
    }.filter { $0.hasSuffix(".swift") }
    for page in try Self.pages {
      for name in try Self.text(page).matches(of: /`([\w+\/]+\.swift)`/).map({ String($0.1) }) {
        // Skip the reader's own files.
        if name.hasPrefix("Sources/App/") || name == "Package.swift" { continue }
        let isThere = files.contains { $0.hasSuffix("/\(name)") }
        #expect(isThere, "\(page) names \(name)")
      }
    }
  }

  @Test func `the bars in the README's chart match the benchmark results`() throws {
    let chart = try Self.text("docs/images/speed.svg")
    let lines = try Self.text("Benchmarks/RESULTS.md").split(separator: "\n")
    for row in ["map.filter.map", "16 mixed", "a subject to 100"] {
      let line = try #require(lines.first { $0.hasPrefix("| \(row) |") }, "no row \(row)")
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: [" "]) }
      let bars = "by hand \(cells[3]) ns, FeedStream \(cells[2]) ns, OpenCombine \(cells[5]) ns"
      #expect(chart.contains(bars), "\(row) is not drawn as it is recorded; run Scripts/images speed")
    }
  }
}
