import Foundation

/// A UUID as two numbers, because copying Foundation's type requires function calls, and takes as long as parsing
/// a UUID.
struct Identity: Hashable, Sendable {
  private let first: UInt64
  private let second: UInt64

  init(_ uuid: UUID) {
    (first, second) = withUnsafeBytes(of: uuid.uuid) { bytes in
      (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// Parses 32 hexadecimal digits of either case, with hyphens after the 8th, 12th, 16th and 20th.
  @inline(__always)
  init?(_ text: Bytes) {
    let hyphen = UInt8(ascii: "-")
    guard text.count == 36, text[8] == hyphen, text[13] == hyphen, text[18] == hyphen, text[23] == hyphen else {
      return nil
    }
    var wrong: UInt64 = 0
    first = text.number(0, 8, &wrong) << 32 | text.number(9, 13, &wrong) << 16 | text.number(14, 18, &wrong)
    second = text.number(19, 23, &wrong) << 48 | text.number(24, 36, &wrong)
    guard wrong & 0x80 == 0 else { return nil }
  }

  var uuid: UUID {
    withUnsafeBytes(of: (first.bigEndian, second.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  /// The UUID in uppercase digits, as in `uuidString`, which takes ten times as long.
  var text: String {
    var number = (first, second)
    return String(unsafeUninitializedCapacity: 36) { text in
      for place in 0..<36 {
        if place == 8 || place == 13 || place == 18 || place == 23 {
          text[place] = UInt8(ascii: "-")
          continue
        }
        let digit = UInt8(truncatingIfNeeded: number.0 >> 60)
        text[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") - 10 + digit
        number = (number.0 << 4 | number.1 >> 60, number.1 << 4)
      }
      return 36
    }
  }
}

extension UnsafeBufferPointer where Element == UInt8 {
  /// The hexadecimal number from `start` up to, but not including, `end`; if it isn't a number, a bit in the last byte
  /// of `wrong` is set.
  @inline(__always)
  fileprivate func number(_ start: Int, _ end: Int, _ wrong: inout UInt64) -> UInt64 {
    var number: UInt64 = 0
    for place in start..<end {
      let value = UInt64(hexadecimalValues.storage[Int(self[place])])
      wrong |= value
      number = number << 4 | value & 15
    }
    return number
  }
}

/// The values of all bytes as hexadecimal digits; 0x80 for a byte that isn't a digit.
private let hexadecimalValues = HexadecimalValues()

/// - Note: `@unchecked Sendable`: the memory is written once, before its first use, and never released.
private struct HexadecimalValues: @unchecked Sendable {
  let storage: UnsafeMutablePointer<UInt8>

  init() {
    storage = .allocate(capacity: 256)
    for byte in 0...255 { storage[byte] = UInt8(byte).hexadecimalValue ?? 0x80 }
  }
}
