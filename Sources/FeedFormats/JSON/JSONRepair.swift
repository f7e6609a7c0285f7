/// Repairs the usual mistakes in a JSON document: control characters and halves of surrogate pairs in strings, commas
/// without a following value, and a missing end. Numbers that simdjson can't hold become strings of the same digits.
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
  /// The position of the second half of the last surrogate pair.
  private var secondHalf = -1
  /// The numbers that become strings.
  private var vast: [Range<Int>] = []

  init(_ text: [UInt8], repairs: Repairs) {
    self.text = text
    self.repairs = repairs
  }

  mutating func run() {
    var index = 0
    while index < text.count {
      if isInString {
        index += repairString(at: index)
      } else if let end = endOfNumber(at: index) {
        if isVast(text[index..<end]) { vast.append(index..<end) }
        comma = nil
        index = end
      } else {
        readBetweenStrings(at: index)
        index += 1
      }
    }
    if !open.isEmpty, let end = lastItemEnd {
      repairs.insert(.cutOff)
      text.removeSubrange(end...)
      text += [UInt8(ascii: "]"), UInt8(ascii: "}")]
      vast.removeAll { $0.upperBound > end }
    }
    quoteNumbers()
  }

  /// The end of the number at `start`; `nil` if there is none.
  private func endOfNumber(at start: Int) -> Int? {
    guard text[start].isDigit || text[start] == UInt8(ascii: "-") else { return nil }
    return text[start...].firstIndex { !$0.isDigit && !"+-.eE".utf8.contains($0) } ?? text.count
  }

  private func isVast(_ number: ArraySlice<UInt8>) -> Bool {
    // Shorter integers fit into 64 bits.
    guard number.count > 18 || number.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) else { return false }
    let digits = String(decoding: number, as: UTF8.self)
    if number.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: "-") }) {
      return Int64(digits) == nil && UInt64(digits) == nil
    }
    return Double(digits)?.isInfinite ?? false
  }

  private mutating func quoteNumbers() {
    guard !vast.isEmpty else { return }
    var quoted: [UInt8] = []
    quoted.reserveCapacity(text.count + 2 * vast.count)
    var place = 0
    for number in vast {
      quoted += text[place..<number.lowerBound]
      quoted.append(UInt8(ascii: "\""))
      quoted += text[number]
      quoted.append(UInt8(ascii: "\""))
      place = number.upperBound
    }
    text = quoted + text[place...]
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
    if unit >= 0xDC00, start == secondHalf { return true }
    if unit < 0xDC00, let second = self.unit(at: start + 6), second & 0xFC00 == 0xDC00 {
      secondHalf = start + 6
      return true
    }
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
