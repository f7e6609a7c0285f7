/// The characters of header fields and methods (RFC 9110, sections 5.5 and 5.6.2).
package enum HTTPSyntax {
  /// True for a method or a field's name.
  package static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(isTokenByte)
  }

  /// True for a byte of a token. Uses a bit table, because each byte of each field name is checked.
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    byte < 0x80 && (byte < 0x40 ? tokens.0 >> UInt64(byte) : tokens.1 >> UInt64(byte - 0x40)) & 1 == 1
  }

  /// True if the text has no control characters except tabs.
  package static func isValue(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }

  package static func isField(_ name: String, _ value: String) -> Bool { isToken(name) && isValue(value) }

  /// True if the strings are equal, regardless of the case of ASCII letters.
  @inlinable package static func isSame(_ a: some StringProtocol, _ b: some StringProtocol) -> Bool {
    a.utf8.count == b.utf8.count && zip(a.utf8, b.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  @inlinable @inline(__always) package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Bit n of the first number represents character n; bit n of the second number represents character 64 + n.
  private static let tokens: (UInt64, UInt64) = {
    var bits: (UInt64, UInt64) = (0, 0)
    for byte in UInt8(0x21)..<0x7F where !"()<>@,;:\\\"/[]?={}".utf8.contains(byte) {
      if byte < 0x40 { bits.0 |= 1 << UInt64(byte) } else { bits.1 |= 1 << UInt64(byte - 0x40) }
    }
    return bits
  }()
}
