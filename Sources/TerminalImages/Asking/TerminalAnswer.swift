package import FeedStream

/// A terminal's reply to a query about itself.
package enum TerminalAnswer: Hashable, Sendable {
  /// The terminal's abilities, as the numbers of its primary device attributes: 4 means sixels (DEC STD 070, 4.17).
  /// Every terminal replies to this query, so it is sent last.
  case attributes(Set<Int>)
  /// True if the terminal supports kitty's graphics.
  case kitty(Bool)
  /// The size of a character, in pixels.
  case cell(CellSize)
  /// The number of colors that sixels may have (XTSMGRAPHICS).
  case sixelColors(Int)
  case background(RGB)
  /// True if the terminal shows 24-bit color.
  case fullColor(Bool)
}

extension TerminalAnswer {
  /// - Parameter sequence: a sequence that arrived where a key could have.
  /// - Returns: `nil` for anything that isn't a reply, and for a reply without a usable value.
  package init?(_ sequence: Chunk) {
    guard let text = String(validating: sequence, as: UTF8.self), text.hasPrefix("\u{1B}") else { return nil }
    let body = text.dropFirst()
    let found: TerminalAnswer? =
      switch body.first {
      case "[": Self.control(body.dropFirst())
      case "_": body.hasPrefix("_Gi=\(Kitty.questionNumber)") ? .kitty(body.contains(";OK")) : nil
      case "]": body.hasPrefix("]11;rgb:") ? Self.color(body.dropFirst(8)).map(TerminalAnswer.background) : nil
      case "P": body.hasPrefix("P1$r") ? .fullColor(body.contains("48:2:") || body.contains("48;2;")) : nil
      default: nil
      }
    guard let found else { return nil }
    self = found
  }

  private static func control(_ body: Substring) -> TerminalAnswer? {
    let numbers = body.dropLast().drop { $0 == "?" }.split(separator: ";").map { Int($0) ?? -1 }
    switch body.last {
    case "c" where body.hasPrefix("?"): return .attributes(Set(numbers))
    case "t" where numbers.count == 3 && numbers[0] == 6:
      // A terminal without pixels reports 0.
      guard (1...512).contains(numbers[1]), (1...512).contains(numbers[2]) else { return nil }
      return .cell(CellSize(width: numbers[2], height: numbers[1]))
    case "S" where body.hasPrefix("?") && numbers.count == 3 && numbers[0] == 1 && numbers[1] == 0:
      return numbers[2] > 1 ? .sixelColors(numbers[2]) : nil
    default: return nil
    }
  }

  /// `ffff/0000/8080`, of one to four digits each (XParseColor).
  private static func color(_ body: Substring) -> RGB? {
    let parts = body.prefix { $0.isHexDigit || $0 == "/" }.split(separator: "/").map { part -> UInt8? in
      guard part.count <= 4, let value = Int(part, radix: 16) else { return nil }
      return UInt8(value * 255 / ((1 << (4 * part.count)) - 1))
    }
    guard parts.count == 3, let red = parts[0], let green = parts[1], let blue = parts[2] else { return nil }
    return RGB(red, green, blue)
  }
}

/// A query to a terminal; see ``TerminalAnswer``.
package struct TerminalQuestion: Hashable, Sendable {
  package let bytes: [UInt8]
  /// The query for the size of a character.
  package static let ofCell = Array("\u{1B}[16t".utf8)

  /// - Parameter environment: identifies the terminal.
  /// - Returns: `nil` for a terminal that can't be queried.
  package init?(environment: [String: String]) {
    let name = environment["TERM"] ?? ""
    // The Linux console and Apple's Terminal would show the query.
    guard !["", "dumb", "linux"].contains(name), environment["TERM_PROGRAM"] != "Apple_Terminal" else { return nil }
    var bytes: [UInt8] = []
    // Within tmux and screen, the query for kitty's graphics would become the window's title.
    let isWithin = environment["TMUX"] != nil || name.hasPrefix("screen") || name.hasPrefix("tmux")
    if !isWithin { bytes += Kitty.question }
    bytes += Self.ofCell + "\u{1B}[?1;1;0S\u{1B}]11;?\u{1B}\\".utf8
    // Sets a color and queries it. A terminal with 24-bit color reports the same color.
    if !isWithin { bytes += "\u{1B}[48;2;1;2;3m\u{1B}P$qm\u{1B}\\\u{1B}[0m".utf8 }
    self.bytes = bytes + "\u{1B}[c".utf8
  }
}
