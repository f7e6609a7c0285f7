/// A key of a terminal.
public enum TerminalKey: Hashable, Sendable {
  case character(Character)
  /// A letter with Ctrl: `.control("c")`.
  case control(Character)
  case enter, tab, backspace, escape
  case up, down, left, right
  case home, end, pageUp, pageDown, insert, delete
  /// F1 and so on.
  case function(Int)
  /// What a terminal sends for a key that has no name here.
  case other(Chunk)
}

/// The keys in what a terminal sends: see ``Terminal/keys``.
///
/// The sequences are those of xterm and VT220. A terminal sends a sequence in one piece, so that an escape at the end of one
/// is the key.
public struct KeyDecoder: ChunkDecoder, Sendable {
  private var rest = Chunk()

  public init() {}

  public mutating func feed(_ chunk: Chunk) { rest = rest.isEmpty ? chunk : Chunk(joining: [rest, chunk]) }

  public mutating func next() -> TerminalKey? { take(isLast: false) }
  public mutating func finish() -> TerminalKey? { take(isLast: true) }

  private mutating func take(isLast: Bool) -> TerminalKey? {
    guard let first = rest.first else { return nil }
    if first == 0x1B { return takeSequence() }
    if let key = Self.plain(first) { return taking(1, key) }
    // A character of several bytes may be cut.
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
    guard rest.count >= length || isLast else { return nil }
    let bytes = rest.prefix(length)
    guard let character = String(validating: bytes, as: UTF8.self)?.first else {
      return taking(1, .other(rest.prefix(1)))
    }
    return taking(bytes.count, .character(character))
  }

  private mutating func taking(_ count: Int, _ key: TerminalKey) -> TerminalKey {
    rest = rest.dropFirst(count)
    return key
  }

  private static func plain(_ byte: UInt8) -> TerminalKey? {
    switch byte {
    case 0x0D, 0x0A: .enter
    case 0x09: .tab
    case 0x7F, 0x08: .backspace
    case 0x01...0x1A: .control(Character(Unicode.Scalar(byte + 0x60)))
    case 0x00: .control(" ")
    case 0x1C...0x1F: .control(Character(Unicode.Scalar(byte + 0x40)))
    default: nil
    }
  }

  private mutating func takeSequence() -> TerminalKey {
    guard rest.count > 1, rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O") else {
      return taking(1, .escape)
    }
    // Digits and semicolons, then one byte that ends it (ECMA-48, 5.4).
    guard let end = rest.indices.dropFirst(2).first(where: { rest[$0] >= 0x40 && rest[$0] <= 0x7E }) else {
      return taking(rest.count, .other(rest))
    }
    let sequence = rest.prefix(end + 1)
    let number = Int(rest[2..<end].text.prefix { $0 != ";" })
    return taking(end + 1, Self.key(sequence[end], number) ?? .other(sequence))
  }

  private static func key(_ end: UInt8, _ number: Int?) -> TerminalKey? {
    switch Character(Unicode.Scalar(end)) {
    case "A": .up
    case "B": .down
    case "C": .right
    case "D": .left
    case "H": .home
    case "F": .end
    case "P": .function(1)
    case "Q": .function(2)
    case "R": .function(3)
    case "S": .function(4)
    case "~":
      switch number ?? 0 {
      case 1, 7: .home
      case 2: .insert
      case 3: .delete
      case 4, 8: .end
      case 5: .pageUp
      case 6: .pageDown
      case 11...15: .function(number! - 10)
      case 17...21: .function(number! - 11)
      case 23, 24: .function(number! - 12)
      default: nil
      }
    default: nil
    }
  }
}
