import Foundation
import TestSupport
import Testing

@testable import feed

/// The article "Getting started": its files are those of `Examples/Tutorial`, which are built and tested, and its programs
/// print what it says.
@Suite(.settled) struct TutorialTests {
  private let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../..").standardized

  private func article() throws -> String {
    let path = "Sources/FeedStream/FeedStream.docc/GettingStarted.md"
    return try String(contentsOf: project.appending(path: path), encoding: .utf8)
  }

  /// What stands in the article after this text, in the next block of code.
  private func block(after text: String) throws -> String {
    let parts = try article().components(separatedBy: text)
    try #require(parts.count == 2, "the article has \"\(text)\" \(parts.count - 1) times")
    let fences = parts[1].components(separatedBy: "```")
    return try String(#require(fences.dropFirst().first).drop { $0 != "\n" }.dropFirst())
  }

  @Test(arguments: [
    "Sources/Search/Searches.swift", "Sources/TypeAndSearch/main.swift", "SearchTests/SearchTests.swift",
    "Sources/ShowFeed/main.swift",
  ])
  func `the article's files are those that are built`(_ path: String) throws {
    let file = try String(contentsOf: project.appending(path: "Examples/Tutorial/\(path)"), encoding: .utf8)
    #expect(try block(after: "`\(path)`:") == file)
  }

  @Test func `the search prints what the article says`() async throws {
    let run = try await RunningFeed(program: FeedBinary.path(of: "TypeAndSearch"), []).ending()
    #expect(try block(after: "Run it:") == "$ swift run TypeAndSearch\n\(run.output)")
    #expect(run.status == 0)
  }

  @Test func `ShowFeed shows the server's feed, and the saved one without the server`() async throws {
    try await withOrigin(serving: document("A gull")) { origin, url, cache in
      let folder = URL(filePath: cache).deletingLastPathComponent().path
      let script = "cd '\(folder)' && exec '\(FeedBinary.path(of: "ShowFeed"))' '\(url)'"
      let remote = try await FeedBinary.shell(script)
      #expect(remote.output == "1 images\n")
      await origin.stop()
      let saved = try await FeedBinary.shell(script)
      let lines = try block(after: "load it again:").split(separator: "\n").suffix(2)
      let expected = lines.joined(separator: "\n").replacing(/saved at .*, shown/, with: "saved at …, shown")
      let port = try #require(URL(string: url)?.port)
      let shown = saved.output.replacing(/saved at .*, shown/, with: "saved at …, shown").dropLast()
      #expect(expected.replacing(":8000", with: ":\(port)") == shown)
      #expect(remote.status == 0 && saved.status == 0)
    }
  }
}
