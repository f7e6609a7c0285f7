import Foundation
import TestSupport
import Testing

@Suite(.settled) struct ReadmeChainTests {
  @Test func `the chain in the README is the one in the source, line for line`() throws {
    let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../..").standardized
    /// Without margins, comments and empty lines.
    func lines(_ path: String) throws -> [String] {
      let text = try String(contentsOf: project.appending(path: path), encoding: .utf8)
      return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty && !$0.hasPrefix("///") }
    }
    let readme = try lines("README.md")
    let begin = try #require(readme.firstIndex(of: "public func load() -> AnyPublisher<Feed, FeedError> {"))
    let chain = Array(readme[begin...].prefix { $0 != "```" })
    #expect(chain.count > 10)
    let source = try lines("Sources/ImageFeed/Pipelines/FeedLoader.swift")
    let start = try #require(source.firstIndex(of: chain[0]))
    #expect(Array(source[start...].prefix(chain.count)) == chain)
  }
}
