import FeedStream
import Foundation
import TestSupport
import Testing

@Suite("Every warning and trap refers to an existing section of docs/Troubleshooting.md", .settled)
struct ExplainedMessageTests {
  private static let root = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

  /// The sections as a web page's anchors: a heading's words in lowercase, joined by hyphens.
  private static func sections() throws -> [String: String] {
    let page = try String(contentsOf: root.appending(path: "docs/Troubleshooting.md"), encoding: .utf8)
    var sections: [String: String] = [:]
    for part in page.components(separatedBy: "\n### ").dropFirst() {
      let lines = part.split(separator: "\n", maxSplits: 1)
      let anchor = lines[0].lowercased().replacingOccurrences(of: " ", with: "-")
      sections[anchor] = String(lines.last ?? "").components(separatedBy: "\n## ")[0]
    }
    return sections
  }

  @Test func `every kind of warning has a section with a solution`() throws {
    let sections = try Self.sections()
    for kind in StreamWarning.Kind.allCases {
      let parts = kind.section.split(separator: "#")
      #expect(parts.first == "docs/Troubleshooting.md")
      let section = sections[String(parts[1])]
      #expect(section?.contains("**Solution:**") == true, "\(kind) has no section")
    }
  }

  @Test func `every trap for a broken rule has a section with a solution`() throws {
    let sections = try Self.sections()
    var anchors: Set<String> = []
    let files = FileManager.default.enumerator(
      at: Self.root.appending(path: "Sources/FeedStream"), includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /section: (?:StaticString\?? = )?"([a-z-]+)"/) { anchors.insert(String(match.1)) }
    }
    // The anchors of `halt`: its default, and at least one other.
    #expect(anchors.contains("a-stream-lives-on-one-thread") && anchors.count > 1, "\(anchors)")
    for anchor in anchors {
      #expect(sections[anchor]?.contains("**Solution:**") == true, "\(anchor) has no section")
    }
  }

  @Test func `every section that a message of the testing kit names exists and has a solution`() throws {
    let sections = try Self.sections()
    var anchors: Set<String> = []
    let files = FileManager.default.enumerator(
      at: Self.root.appending(path: "Sources/FeedStreamTesting"), includingPropertiesForKeys: nil)
    for case let file as URL in try #require(files) where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for match in text.matches(of: /Troubleshooting\.md#([a-z-]+)/) { anchors.insert(String(match.1)) }
    }
    #expect(anchors.contains("a-subscriber-is-still-retained"), "\(anchors)")
    for anchor in anchors {
      #expect(sections[anchor]?.contains("**Solution:**") == true, "\(anchor) has no section")
    }
  }

  @Test func `the text of a warning or trap ends with a link to its section`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      StreamDiagnostics.writeWarnings()
      PassthroughSubject<Int, Never>().send(1)
      let loop = EventLoop()
      Thread.detachNewThread { loop.schedule {} }
      loop.run(.untilStopped)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("(docs/Troubleshooting.md#senttonobody; reported once per place"), "\(text)")
    #expect(text.contains("debounce or throttle (docs/Troubleshooting.md#a-stream-lives-on-one-thread)"), "\(text)")
  }
}
