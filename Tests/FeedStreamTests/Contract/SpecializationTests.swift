import Foundation
import TestSupport
import Testing

/// Checks that streams are specialized across the module's boundary: an operator that subscribes in code that is not
/// inlinable makes everything above it many times slower (`Benchmarks/downstream`).
@Suite(.settled) struct SpecializationTests {
  private let sources = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
    .appending(path: "Sources/FeedStream")

  /// Sources of bytes and events, whose values cost a system call, and operators that erase the types of their
  /// upstreams.
  private static let exempt: Set = [
    "Engine/Subscriptions/WorkOnRequest", "Foundation/Timer+Publisher", "IO/Datagrams/DatagramSocket", "IO/Files/File",
    "IO/Files/Following", "IO/Folders/Folder", "IO/Folders/FolderChanges", "IO/Streams/Connection",
    "IO/Streams/Listener",
    "IO/System/RandomBytes", "IO/System/Signals", "IO/Terminal/Terminal", "Operators/Combining/CombineLatestAll",
    "Operators/Combining/ZipAll",
  ]

  /// The declarations that match, each with its file and the attributes before it.
  private func declarations(of pattern: Regex<some Any>) throws -> [(file: String, line: String)] {
    let files = try #require(FileManager.default.enumerator(atPath: sources.path))
    let names = files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted()
    var found: [(file: String, line: String)] = []
    for name in names {
      let text = try String(contentsOf: sources.appending(path: name), encoding: .utf8)
      var attributes = ""
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        if line.contains(pattern), !line.contains("//") {
          found.append((String(name.dropLast(".swift".count)), attributes + line))
        }
        attributes = line.drop { $0 == " " }.hasPrefix("@") ? String(line) : ""
      }
    }
    return found
  }

  @Test func `every publisher's receive(subscriber:) is inlinable`() throws {
    let found = try declarations(of: /func receive<S: Subscriber[^(]*>\((?:subscriber|home)/)
      .filter { $0.file != "Core/Publisher" }
    #expect(found.count > 90)
    let closed = Set(found.filter { !$0.line.contains("@inlinable") }.map(\.file))
    #expect(closed == Self.exempt, "add @inlinable, or take it off the list of those without")
  }

  @Test func `every operator that crosses to a queue subscribes in inlinable code`() throws {
    let found = try declarations(of: /func (?:cross|attach)\b.*\b(?:to|_) subscriber: ErasedSubscriber/)
      .filter { $0.file.hasPrefix("Operators/") }
    #expect(found.count > 8)
    #expect(found.allSatisfy { $0.line.contains("@inlinable") }, "\(found)")
  }

  @Test func `sink, assign, subscribe and values are inlinable`() throws {
    let found = try declarations(of: /public (?:func (?:sink|assign|subscribe)\b|func values\b|var values\b)/)
    #expect(found.count > 8)
    #expect(found.allSatisfy { $0.line.contains("@inlinable") }, "\(found)")
  }
}
