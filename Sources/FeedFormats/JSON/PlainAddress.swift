/// True for `http://` or `https://` and a host of letters, digits, dots and hyphens, followed at most by a path and a
/// query that need no encoding (RFC 3986, section 3). Parsers can't disagree about such text.
public func isPlainWebAddress(_ text: String) -> Bool { text.withBytes { $0.isPlainWebAddress } }

extension UnsafeBufferPointer where Element == UInt8 {
  package var isPlainWebAddress: Bool {
    guard starts(with: "http") else { return false }
    var index = starts(with: "://", at: 4) ? 7 : starts(with: "s://", at: 4) ? 8 : count
    let start = index
    let (host, path) = (ASCIISet.host, ASCIISet.path)
    while index < count, host.holds(self[index]) { index += 1 }
    guard index > start else { return false }
    if index < count, self[index] != UInt8(ascii: "/") { return false }
    while index < count, path.holds(self[index]) { index += 1 }
    return index == count
  }
}

/// Letters, digits and some other ASCII characters.
///
/// - Note: `@unchecked Sendable`: the memory is written once, before its first use, and never released.
private struct ASCIISet: @unchecked Sendable {
  static let host = ASCIISet("-.")
  static let path = ASCIISet("-._~/?=&+,;:@!*")

  /// True at the index of each character that is in the set.
  private let members: UnsafeMutablePointer<Bool>

  init(_ others: String) {
    members = .allocate(capacity: 256)
    members.initialize(repeating: false, count: 256)
    let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    for byte in (alphanumerics + others).utf8 { members[Int(byte)] = true }
  }

  @inline(__always)
  func holds(_ byte: UInt8) -> Bool { members[Int(byte)] }
}
