import Foundation
import TestSupport
import Testing

@testable import feed

/// The article "Getting started": its files are those of `Examples/Tutorial`, which are built and tested, and its
/// programs print the output that the article shows.
@Suite(.settled) struct TutorialTests {
  private let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../..").standardized

  private func article() throws -> String {
    let path = "Sources/FeedStream/FeedStream.docc/GettingStarted.md"
    return try String(contentsOf: project.appending(path: path), encoding: .utf8)
  }

  /// The next block of code in the article after this text.
  private func block(after text: String) throws -> String {
    let parts = try article().components(separatedBy: text)
    try #require(parts.count == 2, "the article has \"\(text)\" \(parts.count - 1) times")
    let fences = parts[1].components(separatedBy: "```")
    return try String(#require(fences.dropFirst().first).drop { $0 != "\n" }.dropFirst())
  }

  @Test(arguments: [
    "Sources/Search/Searches.swift", "Sources/TypeAndSearch/main.swift", "SearchTests/SearchTests.swift",
    "Sources/ShowFeed/main.swift", "Sources/CountVisits/main.swift",
  ])
  func `the tutorial's code listings match the built files`(_ path: String) throws {
    let file = try String(contentsOf: project.appending(path: "Examples/Tutorial/\(path)"), encoding: .utf8)
    #expect(try block(after: "`\(path)`:") == file)
  }

  @Test func `at each step where the tutorial runs something, all files and targets exist`() throws {
    var (targets, files): (Set<Substring>, Set<Substring>) = ([], [])
    var runs = 0
    // A target may span several lines.
    for line in try article().replacing(/Target\(\n */, with: "Target(").split(separator: "\n") {
      if let target = line.firstMatch(of: /[tT]arget\(name: "(\w+)"/) { targets.insert(target.1) }
      if let file = line.firstMatch(of: /`(?:Sources\/)?(\w+)\/\w+\.swift`:/) { files.insert(file.1) }
      guard line.hasPrefix("$ swift ") else { continue }
      runs += 1
      #expect(targets == files, "\(line)")
    }
    #expect(runs == 5)
    #expect(targets.count == 5)
  }

  @Test func `the search example prints what the tutorial shows`() async throws {
    let run = try await RunningFeed(program: FeedBinary.path(of: "TypeAndSearch"), []).ending()
    #expect(try block(after: "Run it:") == "$ swift run TypeAndSearch\n\(run.output)")
    #expect(run.errors == "")
    #expect(run.status == 0)
  }

  @Test func `ShowFeed shows the server's feed, and the saved one when the server is unreachable`() async throws {
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
      #expect([remote.errors, saved.errors] == ["", ""])
      #expect(remote.status == 0 && saved.status == 0)
    }
  }

  @Test func `CountVisits serves web requests with an actor on the loop`() async throws {
    let reserved = try ReservedPort()
    defer { withExtendedLifetime(reserved) {} }
    let port = reserved.number
    let program = try RunningFeed(program: FeedBinary.path(of: "CountVisits"), ["\(port)"])
    defer { program.send(SIGKILL) }
    let lines = try block(after: "send it two requests from another terminal.").split(separator: "\n")
    let address = "http://127.0.0.1:\(port)/gulls"
    let answers = try await FeedBinary.shell(
      "curl -sS --noproxy '*' --retry 50 --retry-delay 1 --retry-connrefused \(address) \(address)")
    #expect(answers.output == lines[1...2].map { $0 + "\n" }.joined())
    // With many connections at the same time, no visit is lost.
    let many = "seq 200 | xargs -P 8 -I{} curl -sS --noproxy '*' http://127.0.0.1:\(port)/terns"
    let numbers = try await FeedBinary.shell(many).output.matches(of: /visit (\d+)/).compactMap { Int($0.1) }
    #expect(numbers.sorted() == Array(1...200))
    program.send(SIGKILL)
    _ = await program.status()
  }
}
