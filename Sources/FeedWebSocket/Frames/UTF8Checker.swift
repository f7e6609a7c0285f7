/// Checks UTF-8 as it arrives, no matter how it is split, and finds an invalid byte immediately (Unicode, table 3-7).
package struct UTF8Checker: Sendable {
  /// The number of missing continuation bytes, and the valid range of the next one.
  private var needed: UInt8 = 0
  private var least: UInt8 = 0x80
  private var most: UInt8 = 0xBF

  package init() {}

  /// True if the bytes so far end with a complete character.
  package var isComplete: Bool { needed == 0 }

  /// - Returns: false if the bytes so far can't begin valid text.
  package mutating func check(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let base = bytes.baseAddress else { return true }
    var at = 0
    while at < bytes.count {
      if needed == 0 {
        // Most text is ASCII, or has long ASCII parts.
        while at &+ 8 <= bytes.count,
          base.loadUnaligned(fromByteOffset: at, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
        {
          at &+= 8
        }
        guard at < bytes.count else { break }
      }
      let byte = base.load(fromByteOffset: at, as: UInt8.self)
      at &+= 1
      if needed == 0 {
        if byte < 0x80 { continue }
        guard begin(byte) else { return false }
      } else {
        guard byte >= least, byte <= most else { return false }
        needed &-= 1
        (least, most) = (0x80, 0xBF)
      }
    }
    return true
  }

  private mutating func begin(_ byte: UInt8) -> Bool {
    switch byte {
    case 0xC2...0xDF: needed = 1
    case 0xE0: (needed, least) = (2, 0xA0)
    case 0xED: (needed, most) = (2, 0x9F)
    case 0xE1...0xEF: needed = 2
    case 0xF0: (needed, least) = (3, 0x90)
    case 0xF1...0xF3: needed = 3
    case 0xF4: (needed, most) = (3, 0x8F)
    default: return false
    }
    return true
  }
}
