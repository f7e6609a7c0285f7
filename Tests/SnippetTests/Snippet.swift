import Foundation

/// A piece of Swift in a page or in a comment.
struct Snippet: Sendable {
  let file: String
  /// The line in which it begins.
  let line: Int
  let code: String

  /// All snippets of the project.
  static func all(in project: URL) throws -> [Snippet] {
    let pages = try files(in: project, ["", "docs", "Sources", "Examples"], ending: ".md")
    // Skip modules that are empty without their traits; the packages in Integrations compile their snippets.
    let sources = try files(in: project, ["Sources"], ending: ".swift").filter { file in
      !["Lifecycle", "Metrics", "Tracing"].contains { file.contains("/FeedStream\($0)/") }
    }
    return try pages.flatMap { try fences(of: $0, project) } + sources.flatMap { try comments(of: $0, project) }
  }

  /// The files of these folders; of the project itself only those next to `Package.swift`.
  static func files(in project: URL, _ folders: [String], ending: String) throws -> [String] {
    try folders.flatMap { folder -> [String] in
      let place = project.appending(path: folder).path
      let names =
        try folder.isEmpty
        ? FileManager.default.contentsOfDirectory(atPath: place)
        : FileManager.default.subpathsOfDirectory(atPath: place)
      return names.filter { $0.hasSuffix(ending) && !$0.contains(".build/") }.sorted()
        .map { folder.isEmpty ? $0 : "\(folder)/\($0)" }
    }
  }

  private static func lines(of file: String, _ project: URL) throws -> [Substring] {
    try String(contentsOf: project.appending(path: file), encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
  }

  private static func fences(of file: String, _ project: URL) throws -> [Snippet] {
    fences(in: try lines(of: file, project), of: file, startingAt: 1)
  }

  private static func fences(in lines: [Substring], of file: String, startingAt first: Int) -> [Snippet] {
    var snippets: [Snippet] = []
    var opening: Int?
    for (index, line) in lines.enumerated() where line.hasPrefix("```") {
      if let start = opening {
        if lines[start].hasPrefix("```swift") {
          let code = lines[(start + 1)..<index].joined(separator: "\n")
          snippets.append(Snippet(file: file, line: first + start + 1, code: code))
        }
        opening = nil
      } else {
        opening = index
      }
    }
    return snippets
  }

  /// The code that is indented by four spaces in documentation, unless it is a diagram, and the code in fences.
  private static func comments(of file: String, _ project: URL) throws -> [Snippet] {
    var snippets: [Snippet] = []
    for comment in try Comment.all(in: lines(of: file, project)) {
      snippets += fences(in: comment.lines, of: file, startingAt: comment.first)
      for block in comment.blocks where !block.isDiagram {
        snippets.append(Snippet(file: file, line: block.first, code: block.lines.joined(separator: "\n")))
      }
    }
    return snippets
  }
}

/// The lines of a documentation comment, without their slashes.
struct Comment {
  let first: Int
  let lines: [Substring]

  static func all(in lines: [Substring]) -> [Comment] {
    var comments: [Comment] = []
    var present: [Substring] = []
    for (index, line) in (lines + [""]).enumerated() {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("///") {
        let rest = text.dropFirst(3)
        present.append(rest.hasPrefix(" ") ? rest.dropFirst() : rest)
      } else if !present.isEmpty {
        comments.append(Comment(first: index + 1 - present.count, lines: present))
        present = []
      }
    }
    return comments
  }

  /// A part that is indented by four spaces.
  struct Block {
    let first: Int
    let lines: [Substring]

    /// True when a line ends like a lane, with a completion, a failure, or continuing time, or has passing time in it.
    var isDiagram: Bool {
      lines.contains { line in
        let isLane = line.contains("--") && !line.contains("\"")
        return isLane || line.last.map { "|#-…^".contains($0) } ?? false
      }
    }
  }

  var blocks: [Block] {
    var blocks: [Block] = []
    var present: [Substring] = []
    var isFenced = false
    func close(before index: Int) {
      let start = first + index - present.count
      while present.last?.isEmpty == true { present.removeLast() }
      if !present.isEmpty { blocks.append(Block(first: start, lines: present)) }
      present = []
    }
    for (index, line) in lines.enumerated() {
      if line.hasPrefix("```") { isFenced.toggle() }
      let isAfterText = index == 0 || !lines[index - 1].isEmpty
      if !isFenced, line.hasPrefix("    "), !present.isEmpty || !isAfterText {
        present.append(line.dropFirst(4))
      } else if line.isEmpty, !present.isEmpty {
        present.append("")
      } else {
        close(before: index)
      }
    }
    close(before: lines.count)
    return blocks
  }
}
