import Foundation
import TestSupport
import Testing

@Suite(.settled) struct ReadmeChainTests {
  @Test func `the chain in the README is the one in the source, line for line`() throws {
    let project = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../..").standardized
    func lines(_ path: String) throws -> [String] {
      let text = try String(contentsOf: project.appending(path: path), encoding: .utf8)
      let begin = "public func load() -> AnyPublisher<Feed, FeedError> {"
      let all = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      let start = try #require(all.firstIndex(of: begin), "\(path)")
      return Array(all[start...].prefix { $0 != "}" })
    }
    let chain = try lines("README.md")
    #expect(chain.count > 5)
    #expect(try lines("Sources/ImageFeed/Pipelines/FeedLoader.swift") == chain)
  }
}
