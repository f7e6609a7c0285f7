import Foundation
import TestSupport
import Testing

/// The page of `Publisher` in the documentation groups its methods by purpose.
@Suite(.settled) struct TopicTests {
  private static let project = URL(filePath: #filePath).resolvingSymlinksInPath()
    .appending(path: "../../../..").standardized

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.project.appending(path: path), encoding: .utf8)
  }

  /// The method names in the groups, without parameters.
  private func grouped() throws -> [String] {
    try text("Sources/FeedStream/FeedStream.docc/Publisher.md").matches(of: /(?m)^- ``(\w+)/).map { String($0.1) }
  }

  @Test func `every method of Publisher is in a topic group`() throws {
    // The methods that `Scripts/api` lists as public.
    let methods = try text("docs/API/FeedStream.txt").matches(of: /(?m)^(?:func|var) Publisher\.`?([^_\W]\w*)/)
    let names = Set(methods.map { String($0.1) })
    #expect(names.count > 95)
    let grouped = Set(try grouped())
    #expect(names.subtracting(grouped).sorted() == [], "add these to a group of Publisher.md")
    let others: Set = ["Output", "Failure"]
    #expect(grouped.subtracting(names).subtracting(others).sorted() == [], "these aren't methods of a publisher")
  }

  @Test func `every link occurs in one topic group`() throws {
    let links = try text("Sources/FeedStream/FeedStream.docc/Publisher.md").matches(of: /(?m)^- (``.*``)$/)
      .map { String($0.1) }
    #expect(Set(links).count == links.count)
    #expect(links.count > 170)
  }

  @Test func `every article is listed on its library's landing page`() throws {
    for library in ["FeedStream", "FeedStreamTesting"] {
      let folder = "Sources/\(library)/\(library).docc"
      let landing = try text("\(folder)/\(library).md")
      for file in try FileManager.default.contentsOfDirectory(atPath: Self.project.appending(path: folder).path)
      where file.hasSuffix(".md") {
        let name = file.dropLast(3)
        if name == library || name == "Publisher" { continue }
        #expect(landing.contains("- <doc:\(name)>"), "\(library).md does not list \(file)")
      }
    }
  }
}
