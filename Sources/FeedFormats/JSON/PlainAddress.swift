/// True for `http://` or `https://`, a host of letters, digits, dots and hyphens, and then nothing, or a path and a query
/// that need no encoding (RFC 3986, section 3): nothing that parsers could differ about.
public func isPlainWebAddress(_ text: String) -> Bool { text.withBytes { $0.isPlainWebAddress } }

extension UnsafeBufferPointer where Element == UInt8 {
  package var isPlainWebAddress: Bool {
    guard starts(with: "http") else { return false }
    var index = starts(with: "://", at: 4) ? 7 : starts(with: "s://", at: 4) ? 8 : count
    let start = index
    while index < count, ASCIISet.host.holds(self[index]) { index += 1 }
    guard index > start else { return false }
    if index < count, self[index] != UInt8(ascii: "/") { return false }
    while index < count, ASCIISet.path.holds(self[index]) { index += 1 }
    return index == count
  }
}

/// Some of the ASCII characters, a bit each.
private struct ASCIISet {
  static let host = ASCIISet("-.")
  static let path = ASCIISet("-._~/?=&+,;:@!*")

  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// Letters, digits and `others`.
  init(_ others: String) {
    let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for byte in (alphanumerics + others).utf8 {
      if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }
  }

  @inline(__always)
  func holds(_ byte: UInt8) -> Bool {
    byte < 64 ? low >> UInt64(byte) & 1 != 0 : byte < 128 && high >> UInt64(byte - 64) & 1 != 0
  }
}
