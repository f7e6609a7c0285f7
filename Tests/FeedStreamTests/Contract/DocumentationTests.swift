import Foundation
import TestSupport
import Testing

/// Every public operator documents its behavior, with a diagram, and its treatment of demand, failure, cancellation,
/// and values that it can't deliver. An overload may refer to the form that documents this.
@Suite(.settled) struct DocumentationTests {
  private static let declarations = try! Declaration.all()
  /// Operators of publishers and collections, and the publishers that are made by an initializer.
  private static let operators = declarations.filter { $0.isGeneral || $0.isPublisher && !$0.isMadeByAnOperator }
  /// Operators of one type of publisher, which behave like the general operator.
  private static let special = declarations.filter(\.isSpecial)

  @Test func `the documentation check finds all operators`() {
    #expect(Self.operators.count > 190)
    #expect(Self.special.count > 90)
  }

  @Test func `every operator documents its effect, diagram, demand, failure, cancellation and policy`() {
    for declaration in Self.operators { #expect(declaration.missing == [], "\(declaration)") }
  }

  @Test func `the documentation that other operators refer to is complete`() {
    let complete = Set(Self.operators.filter { $0.references.isEmpty && $0.missing == [] }.map(\.name))
    for declaration in Self.operators {
      let unknown = declaration.references.filter { !complete.contains($0) }
      #expect(unknown == [], "\(declaration)")
    }
  }

  @Test func `every overload for a specific publisher names the general operator`() {
    let names = Set(Self.operators.map(\.name))
    for declaration in Self.special {
      #expect(declaration.doc.contains("Like `\(declaration.name)("), "\(declaration)")
      #expect(names.contains(declaration.name), "\(declaration)")
    }
  }

  @Test func `missing parts of documentation are found`() {
    let full = """
      /// Delivers what `transform` makes.
      ///
      ///     upstream    --1--|
      ///     downstream  --2--|
      ///
      /// **Demand, failure, cancellation:** pass through. **Policy:** forwards.
      """
    #expect(Declaration("map", full).missing == [])
    #expect(Declaration("tryMap", full).missing == ["a diagram of the throw (#)"])
    #expect(Declaration("map", "").missing.count == 6)
    for (item, text) in [
      ("a diagram", "    "), ("demand", "Demand"), ("failure", "failure"), ("cancellation", "cancellation"),
      ("policy", "Policy"),
    ] {
      #expect(Declaration("map", full.replacing(text, with: "")).missing == [item])
    }
    let overload =
      "/// Maps twice.\n///\n/// **Demand, failure, cancellation, policy:** as in\n/// ``Publisher/map(_:)``."
    #expect(Declaration("map", overload).missing == [])
    #expect(Declaration("map", overload).references == ["map"])
  }
}

/// A public declaration of the library's sources, and the documentation above it.
private struct Declaration: CustomStringConvertible {
  var place = ""
  /// The line that begins the extension or the type around it.
  var container = ""
  var kind: Substring = "func"
  let name: String
  /// The declaration's line, without the generic parameters.
  var head = ""
  /// The comment's lines, each without its slashes.
  let lines: [Substring]

  init(_ name: String, _ comment: String) {
    self.name = name
    lines = comment.split(separator: "\n").map {
      let text = $0.drop { $0 == " " }.dropFirst(3)
      return text.hasPrefix(" ") ? text.dropFirst() : text
    }
  }

  /// The text of the comment, without the diagrams and in one line.
  var doc: String { lines.filter { !$0.hasPrefix("    ") }.joined(separator: " ") }
  var description: String { "\(place) \(name)" }

  // MARK: Requirements

  var missing: [String] {
    let drawing = lines.filter { $0.hasPrefix("    ") && $0.contains { "-|#".contains($0) } }
    var missing: [String] = []
    if lines.first?.isEmpty ?? true { missing.append("a line") }
    if name.hasPrefix("try") {
      if !drawing.contains(where: { $0.contains("#") }) { missing.append("a diagram of the throw (#)") }
    } else if drawing.isEmpty, references.isEmpty {
      missing.append("a diagram")
    }
    let titles = doc.matches(of: /\*\*([^*]+):\*\*/).map { $0.1.lowercased() }.joined(separator: ", ")
    for item in ["demand", "failure", "cancellation", "policy"] where !titles.contains(item) { missing.append(item) }
    return missing
  }

  /// The names of the declarations to which it refers for its behavior: "as in ``zip(_:)``".
  var references: [String] {
    doc.matches(of: /:\*\* as in `+([^`(]+)/).map { match in
      String(match.1.split { $0 == "/" || $0 == "." }.last ?? "")
    }
  }

  // MARK: Kinds

  var isGeneral: Bool {
    let isFree = container.isEmpty
    let isOfAny = ["Publisher", "ConnectablePublisher", "Swift.Collection", "Scheduler", "Publishers", "AsyncSequence"]
      .contains { container.hasPrefix("extension \($0) ") }
    return kind != "type" && (isFree || isOfAny)
  }

  var isSpecial: Bool {
    let isOfOne = ["ConstantPublisher", "Just", "Optional.Publisher", "Result.Publisher", "Publishers."]
      .contains { container.hasPrefix("extension \($0)") }
    return kind == "func" && isOfOne && name != "kept"
  }

  var isPublisher: Bool {
    kind == "type" && head.contains(/:.*\b(ConnectablePublisher|ConstantPublisher|Publisher|Subject)\b/)
  }

  /// True for "See ``Publisher/map(_:)``." or, for a publisher that several operators share, "``Zip`` and
  /// ``CombineLatest``."
  var isMadeByAnOperator: Bool { doc.hasPrefix("See ") || doc.hasPrefix("``") || doc.contains(": see ``") }
}

extension Declaration {
  static func all() throws -> [Declaration] {
    let sources = URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../../Sources/FeedStream")
      .standardized
    return try ["Operators", "Publishers", "Concurrency", "Subjects", "Foundation"].flatMap { folder in
      let files = try #require(FileManager.default.enumerator(atPath: sources.appending(path: folder).path))
      return try files.compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }.sorted().flatMap { file in
        let text = try String(contentsOf: sources.appending(path: "\(folder)/\(file)"), encoding: .utf8)
        // Names that can't be used only give the compiler a message.
        return file == "OtherNames.swift" ? [] : parse(text, "\(folder)/\(file)")
      }
    }
  }

  private static func parse(_ text: String, _ file: String) -> [Declaration] {
    var declarations: [Declaration] = []
    var container = ""
    var comment: [Substring] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let indentation = line.prefix { $0 == " " }
      let code = line.dropFirst(indentation.count).trimmingPrefix(/(?:@\w+(?:\([^)]*\))? +)+/)
      if code.hasPrefix("///") {
        comment.append(line)
        continue
      }
      // A closing brace without indentation ends the container.
      if line.first == "}" { container = "" }
      if line.hasPrefix("extension ") { container = String(line) }
      if code.hasPrefix("public "), let match = code.prefixMatch(of: declared) {
        var declaration = Declaration(match.2.trimmingCharacters(in: ["`"]), comment.joined(separator: "\n"))
        declaration.place = "\(file):\(index + 1)"
        declaration.container = container
        declaration.kind = ["struct", "class"].contains(match.1) ? "type" : match.1
        declaration.head = String(code).replacing(/<.*>(?=:)/, with: "")
        let isMember = indentation.count == (container.isEmpty ? 0 : 2)
        let isOperator = declaration.kind != "var" || ["values", "publisher"].contains(declaration.name)
        if isOperator, isMember || declaration.kind == "type", !plumbing.contains(declaration.name) {
          declarations.append(declaration)
        }
      }
      if !code.hasPrefix("@") { comment = [] }
    }
    return declarations
  }

  private static var declared: Regex<(Substring, Substring, Substring)> {
    /public (?:static |final |nonisolated\(nonsending\) )*(func|var|struct|class) (`?\w+`?)/
  }

  /// The requirements of publishers, subjects and schedulers, which aren't operators.
  private static let plumbing: Set = [
    "receive", "connect", "send", "subscribe", "cancel", "request", "hash", "schedule", "AsyncPublisher",
    "byTime", "byTimeOrCount",
  ]
}
