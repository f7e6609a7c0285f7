import FeedStream
import FeedStreamTesting
import Foundation
import Testing

/// Lanes of text, as a comment shows them.
struct Drawing {
  let lines: [String]

  /// The column in which all lanes of a drawing begin.
  private var begin: Int {
    lines.compactMap { line in line.wholeMatch(of: #/([a-z]+ +)-.*/#).map { $0.1.count } }.min() ?? 12
  }

  /// The contents of the lanes of this name, from their first column. Words after them are cut off.
  private func all(_ label: String) -> [Substring] {
    lines.filter { $0.drop { $0 == " " }.hasPrefix(label + " ") }.map { line in
      let lane = line.dropFirst(begin)
      let blanks = lane.prefix { $0 == " " }.count
      return lane.prefix(blanks) + lane.dropFirst(blanks).replacing(#/ {2,}\(?[A-Za-z].*$/#, with: "")
    }
  }

  /// The marbles of a lane; `nil` when there is no such lane.
  func marbles(_ label: String) -> String? {
    all(label).first.map { $0.replacingOccurrences(of: " ", with: "-").trimmingCharacters(in: ["…"]) }
  }

  /// The contents of the lanes of this name from where they begin.
  func suffixes(_ label: String) -> [String] { all(label).map { String($0.drop { $0 == " " }) } }
  func suffix(_ label: String) -> String? { suffixes(label).first }
  /// The column in which the last lane of this name begins.
  func begin(of label: String) -> Int { all(label).last?.prefix { $0 == " " }.count ?? 0 }

  /// True when the lane continues after the drawing.
  func goesOn(_ label: String) -> Bool { all(label).first?.hasSuffix("…") == true }

  /// The demand of the drawing's subscriber: unlimited, unless a lane says otherwise.
  var demand: DemandScript {
    guard let lane = all("demand").first else { return .unlimited }
    let requests = lane.enumerated().compactMap { column, character -> (Int, Subscribers.Demand)? in
      if character == "∞" { return (column, .unlimited) }
      return character.wholeNumberValue.map { (column, .max($0)) }
    }
    let later = requests.filter { $0.0 > 0 }.map { DemandScript.Later(after: .milliseconds($0.0), $0.1) }
    return DemandScript(initial: requests.first { $0.0 == 0 }?.1 ?? .none, later: later)
  }

  /// A name without its quotes and the parentheses around it.
  static func bare(_ name: String) -> String {
    let name = name.replacing("\"", with: "")
    return name.hasPrefix("(") && name.hasSuffix(")") ? String(name.dropFirst().dropLast()) : name
  }

  struct Token {
    let name: String
    /// The token's column; directly after another token, also that token's column, because both can't be in one.
    let instants: Set<Int>
  }

  func lane(_ label: String, isWide: Bool) throws -> [Token] {
    let lane = try #require(marbles(label), "no lane \(label)")
    let pattern = isWide ? #/-+|\w+\([^)]*\)|\[[^\]]*\]|\([^)]*\)|[^-|\#()\[\]…]+|./# : #/-+|\([^)]*\)|./#
    var (tokens, column, before): ([Token], Int, Set<Int>) = ([], 0, [])
    for match in lane.matches(of: pattern) {
      let text = String(match.output)
      if text.hasPrefix("-") {
        before = []
      } else if text != "…" {
        let instants = before.union([column])
        if !isWide, text.count > 1 {
          tokens += text.dropFirst().dropLast().map { Token(name: String($0), instants: instants) }
        } else {
          tokens.append(Token(name: isWide ? Self.bare(text) : text, instants: instants))
        }
        before = instants
      }
      column += text.count
    }
    return tokens
  }
}
