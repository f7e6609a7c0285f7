/// The encoding used for bytes that are invalid in all others, because every byte is a character in windows-1252
/// (WHATWG Encoding Standard).
enum Windows1252 {
  /// The characters of the bytes 0x80 to 0x9F; the five undefined ones are the control characters of ISO 8859-1.
  private static let high: [UInt16] = [
    0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D, 0x017D,
    0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
    0x017E, 0x0178,
  ]

  static func scalar(_ byte: UInt8) -> Unicode.Scalar {
    guard byte &- 0x80 < 0x20 else { return Unicode.Scalar(byte) }
    return Unicode.Scalar(high[Int(byte - 0x80)])!
  }
}
