import Foundation
import Testing

/// The public functions in the sources that make one publisher from another: in extensions of `Publisher`, of
/// collections and similar types, and at file level.
///
/// Read from the text: this code knows enough of Swift's grammar for declarations in the layout of `swift format`.
struct PublicFunctions {
  /// The file, below `Sources/FeedStream` and without its extension, and the functions, such as `zip(_:_:)`.
  let names: [(file: String, name: String)]

  /// The types whose extensions declare operators.
  private static let extended: Set = [
    "Publisher", "ConnectablePublisher", "Swift.Collection", "Scheduler", "Publishers",
  ]

  init(in folders: [String]) throws {
    var names: [(file: String, name: String)] = []
    for folder in folders {
      for file in try Self.files(in: folder) {
        let text = try String(contentsOf: Self.sources.appending(path: file + ".swift"), encoding: .utf8)
        names += Self.functions(in: text).map { (file, $0) }
      }
    }
    self.names = names
  }

  static var sources: URL {
    URL(filePath: #filePath).resolvingSymlinksInPath().appending(path: "../../../Sources/FeedStream").standardized
  }

  /// The files of a folder, without their extensions.
  static func files(in folder: String) throws -> [String] {
    let files = try #require(FileManager.default.enumerator(atPath: sources.appending(path: folder).path))
    return files.compactMap { ($0 as? String).flatMap { $0.hasSuffix(".swift") ? "\(folder)/\($0.dropLast(6))" : nil } }
  }

  private static func functions(in text: String) -> [String] {
    var names: [String] = []
    var type: Substring?
    // Unavailable declarations only give the compiler a message.
    let available = text.replacing(/@available\(\s*\*, unavailable(?:(?!public )[\s\S])*public func/) { _ in "func" }
    // Attributes come before their declaration.
    let text = available.replacing(/(?m)^( *)(?:@\w+(?:\([^)\n]*\))?[ \n]+)+/) { $0.1 }
    var rest = text[...]
    while let line = rest.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).first {
      let isBeginning = line.hasPrefix("extension ") || line.hasPrefix("public ") || line.hasPrefix("  public ")
      if isBeginning, let match = line.prefixMatch(of: /(?:public )?extension ([\w.]+)/) {
        type = match.1
      } else if isBeginning, let match = line.prefixMatch(of: /(?:  )?public (?:static )?func `?(\w+)`?/) {
        let isTopLevel = !line.hasPrefix(" ")
        if isTopLevel || type.map({ extended.contains(String($0)) }) == true {
          names.append(match.1 + labels(rest[match.range.upperBound...]))
        }
      } else if let first = line.first, !" }@/)".contains(first) {
        type = nil
      }
      rest = rest[line.endIndex...].dropFirst()
      if rest.isEmpty { break }
    }
    return names
  }

  /// The labels of a declaration, as `(_:with:)`, from after its name.
  private static func labels(_ declaration: Substring) -> String {
    var depth = 0
    var isGeneric = false
    var parameters: [String] = [""]
    var previous: Character = " "
    for character in declaration {
      defer { previous = character }
      if depth == 0 { isGeneric = character == "<" }
      let closes = ")]}".contains(character) || character == ">" && previous != "-"
      if closes { depth -= 1 }
      if closes, depth == 0 {
        if !isGeneric { break }
        continue
      }
      if depth > 0, !isGeneric {
        if depth == 1, character == "," {
          parameters.append("")
        } else {
          parameters[parameters.count - 1].append(character)
        }
      }
      if "([{<".contains(character) { depth += 1 }
    }
    let labels = parameters.compactMap { $0.firstMatch(of: /\w+/).map { "\($0.output):" } }
    return "(\(labels.joined()))"
  }
}
