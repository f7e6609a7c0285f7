/// Repairs the usual mistakes in a JSON document: control characters and halves of surrogate pairs in strings, commas
/// without a following value, and a missing end.
struct JSONRepair {
  private(set) var text: [UInt8]
  private(set) var repairs: Repairs
  private var isInString = false
  /// The open brackets.
  private var open: [UInt8] = []
  /// The position of a comma that is not yet followed by a value.
  private var comma: Int?
  /// The end of the last complete object in one of the document's arrays.
  private var lastItemEnd: Int?

  init(_ text: [UInt8], repairs: Repairs) {
    self.text = text
    self.repairs = repairs
  }

  mutating func run() {
    var index = 0
    while index < text.count {
      if isInString {
        index += repairString(at: index)
      } else {
        readBetweenStrings(at: index)
        index += 1
      }
    }
    guard !open.isEmpty, let end = lastItemEnd else { return }
    repairs.insert(.cutOff)
    text.removeSubrange(end...)
    text += [UInt8(ascii: "]"), UInt8(ascii: "}")]
  }

  /// - Returns: the number of bytes that are read.
  private mutating func repairString(at index: Int) -> Int {
    switch text[index] {
    case UInt8(ascii: "\""): isInString = false
    case UInt8(ascii: "\\"):
      if !repairEscape(at: index) { repairs.insert(.badCharacters) }
      return 2
    case ..<0x20:
      text[index] = 0x20
      repairs.insert(.badCharacters)
    default: break
    }
    return 1
  }

  private mutating func readBetweenStrings(at index: Int) {
    let byte = text[index]
    switch byte {
    case UInt8(ascii: ","):
      comma = index
      return
    case UInt8(ascii: "{"), UInt8(ascii: "["): open.append(byte)
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if let comma {
        text[comma] = 0x20
        repairs.insert(.comma)
      }
      _ = open.popLast()
      if byte == UInt8(ascii: "}"), open.count == 2, open.last == UInt8(ascii: "[") { lastItemEnd = index + 1 }
    case UInt8(ascii: "\""): isInString = true
    default: if byte.isSpace { return }
    }
    comma = nil
  }

  /// Replaces half a surrogate pair with U+FFFD; returns false if there was one.
  private mutating func repairEscape(at start: Int) -> Bool {
    guard let unit = unit(at: start), unit & 0xF800 == 0xD800 else { return true }
    if unit < 0xDC00, let second = self.unit(at: start + 6), second & 0xFC00 == 0xDC00 { return true }
    if unit >= 0xDC00, start >= 6, let first = self.unit(at: start - 6), first & 0xFC00 == 0xD800 { return true }
    text.replaceSubrange(start + 2..<start + 6, with: "FFFD".utf8)
    return false
  }

  /// The code unit of `\uXXXX`.
  private func unit(at index: Int) -> UInt16? {
    guard index + 6 <= text.count, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var unit: UInt16 = 0
    for digit in text[index + 2..<index + 6] {
      guard let value = digit.hexadecimalValue else { return nil }
      unit = unit << 4 | UInt16(value)
    }
    return unit
  }
}
