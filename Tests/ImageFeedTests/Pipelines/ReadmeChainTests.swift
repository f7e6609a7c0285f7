import Foundation
import TestSupport
import Testing

@Suite(.settled) struct ReadmeChainTests {
  @Test func `the chain in the README equals the source, line by line`() throws {
    let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../..").standardized
    /// The lines without indentation, comments and empty lines.
    func lines(_ path: String) throws -> [String] {
      let text = try String(contentsOf: project.appending(path: path), encoding: .utf8)
      return text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        .filter { !$0.isEmpty && !$0.hasPrefix("///") }
    }
    let (readme, source) = (try lines("README.md"), try lines("Sources/ImageFeed/Pipelines/FeedLoader.swift"))
    var count = 0
    for first in ["latest", "saved.revalidated { known in"] {
      let begin = try #require(readme.firstIndex(of: first))
      let chain = Array(readme[begin...].prefix { $0 != "```" })
      let start = try #require(source.firstIndex(of: first))
      #expect(Array(source[start...].prefix(chain.count)) == chain)
      count += chain.count
    }
    #expect(count == 10)
  }
}
