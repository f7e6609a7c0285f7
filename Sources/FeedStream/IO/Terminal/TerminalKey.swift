/// A key press or a mouse action in a terminal.
public enum TerminalKey: Hashable, Sendable {
  case character(Character)
  /// A letter with Ctrl: `.control("c")`.
  case control(Character)
  case enter, tab, backspace, escape
  case up, down, left, right
  case home, end, pageUp, pageDown, insert, delete
  /// F1 and so on.
  case function(Int)
  /// A mouse action, if the terminal was told to report mouse actions (``TerminalMouse/reporting``).
  case mouse(TerminalMouse)
  /// An unrecognized sequence, or a terminal's response to a query.
  case other(Chunk)
}

/// Decodes the keys in a terminal's input: see ``Terminal/keys``.
///
/// The sequences are those of xterm and VT220. A terminal sends the beginning of a sequence in one piece, so an escape
/// at the end of a piece is the Escape key. A terminal's response (a sequence with `?`, or a string) is decoded as one
/// value.
public struct KeyDecoder: ChunkDecoder, Sendable {
  private var rest = Chunk()

  public init() {}

  public mutating func feed(_ chunk: Chunk) { rest = rest.isEmpty ? chunk : Chunk(joining: [rest, chunk]) }

  public mutating func next() -> TerminalKey? { take(isLast: false) }
  public mutating func finish() -> TerminalKey? { take(isLast: true) }

  private mutating func take(isLast: Bool) -> TerminalKey? {
    guard let first = rest.first else { return nil }
    if first == 0x1B { return takeSequence(isLast: isLast) }
    if let key = Self.plain(first) { return taking(1, key) }
    // The piece may end within a multibyte character.
    let length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1
    let isValid = first < 0xF5 && rest.prefix(length).dropFirst().allSatisfy { 0x80...0xBF ~= $0 }
    guard rest.count >= length || isLast || !isValid else { return nil }
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

  private mutating func takeSequence(isLast: Bool) -> TerminalKey? {
    if let beginning = stringBeginning { return takeString(after: beginning, isLast: isLast) }
    guard rest.count > 1, rest[1] == UInt8(ascii: "[") || rest[1] == UInt8(ascii: "O") else {
      return taking(1, .escape)
    }
    // A sequence has digits and semicolons, and then one final byte (ECMA-48, 5.4).
    guard let end = rest.indices.dropFirst(2).first(where: { rest[$0] >= 0x40 && rest[$0] <= 0x7E }) else {
      // The piece ends within the sequence's digits.
      if !isLast, rest.count > 2, rest.count < 64, rest[1] == UInt8(ascii: "["),
        rest.dropFirst(2).allSatisfy({ $0 >= 0x20 && $0 < 0x40 })
      {
        return nil
      }
      return taking(rest.count, .other(rest))
    }
    let sequence = rest.prefix(end + 1)
    if end == 2, rest[1] == UInt8(ascii: "["), rest[2] == UInt8(ascii: "M") { return takeMouse(isLast: isLast) }
    if rest[2] == UInt8(ascii: "<"), let mouse = TerminalMouse(sequence: sequence) {
      return taking(end + 1, .mouse(mouse))
    }
    let number = Int(rest[2..<end].text.prefix { $0 != ";" })
    return taking(end + 1, (Self.isResponse(sequence) ? nil : Self.key(sequence[end], number)) ?? .other(sequence))
  }

  /// True for a ``TerminalKey/other(_:)`` sequence that no key has: a string, a control sequence with a marker byte
  /// before its digits, or a report about the window. Some responses have no usable value, and others are to queries of
  /// other programs.
  package static func isResponse(_ sequence: Chunk) -> Bool {
    guard sequence.count > 2, sequence[0] == 0x1B else { return false }
    return switch sequence[1] {
    case UInt8(ascii: "P"), UInt8(ascii: "]"), UInt8(ascii: "_"): true
    case UInt8(ascii: "["): (0x3C...0x3F).contains(sequence[2]) || sequence.last == UInt8(ascii: "t")
    default: false
    }
  }

  /// Takes a mouse report with its three bytes, which are not keys.
  private mutating func takeMouse(isLast: Bool) -> TerminalKey? {
    guard rest.count >= 6 || isLast else { return nil }
    let sequence = rest.prefix(6)
    let mouse = TerminalMouse(bytes: sequence.dropFirst(3)).map(TerminalKey.mouse)
    return taking(sequence.count, mouse ?? .other(sequence))
  }

  /// The length of the introducer if the input begins with a string that terminals use for responses: a device control
  /// string, an operating system command or an application program command (ECMA-48, 8.3.27, 8.3.89, 8.3.2). Any other
  /// letter after an escape is that letter with Alt.
  private var stringBeginning: Int? {
    guard rest.count > 2 else { return nil }
    switch (rest[1], rest[2]) {
    case (UInt8(ascii: "P"), UInt8(ascii: "0")...UInt8(ascii: "9")), (UInt8(ascii: "P"), UInt8(ascii: ">")),
      (UInt8(ascii: "]"), UInt8(ascii: "0")...UInt8(ascii: "9")), (UInt8(ascii: "_"), UInt8(ascii: "G")):
      return 2
    default: return nil
    }
  }

  /// Takes a string, which ends with `ESC \` or BEL.
  private mutating func takeString(after beginning: Int, isLast: Bool) -> TerminalKey? {
    for index in rest.indices.dropFirst(beginning) {
      if rest[index] == 0x07 { return taking(index + 1, .other(rest.prefix(index + 1))) }
      guard rest[index] == 0x1B, index + 1 < rest.count else { continue }
      // An escape that isn't the terminator begins another sequence, so the string ends before it.
      guard rest[index + 1] == UInt8(ascii: "\\") else { return taking(index, .other(rest.prefix(index))) }
      return taking(index + 2, .other(rest.prefix(index + 2)))
    }
    return isLast || rest.count > 4096 ? taking(rest.count, .other(rest)) : nil
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
