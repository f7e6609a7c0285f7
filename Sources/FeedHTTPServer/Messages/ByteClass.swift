/// The bytes that are allowed in each part of a request (RFC 9110, 5.5 and 5.6.2; RFC 3986).
enum ByteClass {
  /// A token: methods and field names.
  static let token: UInt8 = 1
  /// The value of a field: visible characters, space, tab, and bytes above 127.
  static let text: UInt8 = 2
  /// A path, with its slashes; the `%` of an escape is checked separately. In addition to RFC 3986, this allows the
  /// characters that browsers leave unescaped there: `[]|^`.
  static let path: UInt8 = 4
  /// A query. In addition to RFC 3986, this allows the characters that browsers leave unescaped there: ``[]{}|\^` ``.
  static let query: UInt8 = 8
  /// A host name.
  static let host: UInt8 = 16
  static let hexDigit: UInt8 = 32
  static let digit: UInt8 = 64
  /// A target of any form: visible ASCII characters.
  static let target: UInt8 = 128

  /// The classes of each byte.
  // Written once, by its initializer, and never freed. It is a pointer, because an array would check its bounds for
  // each byte.
  nonisolated(unsafe) static let table: UnsafePointer<UInt8> = {
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    table.initialize(repeating: 0, count: 256)
    func add(_ kind: UInt8, _ bytes: some Sequence<UInt8>) { for byte in bytes { table[Int(byte)] |= kind } }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    let upper = UInt8(ascii: "A")...UInt8(ascii: "Z")
    let lower = UInt8(ascii: "a")...UInt8(ascii: "z")
    for kind in [token, path, query, host] {
      add(kind, digits)
      add(kind, upper)
      add(kind, lower)
    }
    add(token, "!#$%&'*+-.^_`|~".utf8)
    add(text, 0x20...0x7E)
    add(text, 0x80...0xFF)
    add(text, [0x09])
    for kind in [path, query, host] { add(kind, "-._~!$&'()*+,;=%".utf8) }
    for kind in [path, query] { add(kind, ":@/".utf8) }
    for kind in [path, query] { add(kind, "[]|^".utf8) }
    add(query, "?{}\\`".utf8)
    add(hexDigit, digits)
    add(hexDigit, "abcdefABCDEF".utf8)
    add(digit, digits)
    add(target, 0x21...0x7E)
    return UnsafePointer(table)
  }()

  /// The value of a hexadecimal digit.
  @inline(__always) static func hexValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}

/// A range of bytes in a head.
struct Place: Equatable {
  var start: UInt32
  var end: UInt32

  init(_ start: Int, _ end: Int) {
    self.start = UInt32(truncatingIfNeeded: start)
    self.end = UInt32(truncatingIfNeeded: end)
  }

  var range: Range<Int> { Int(start)..<Int(end) }
  var count: Int { Int(end - start) }
}

extension UnsafeRawBufferPointer {
  /// True if the bytes equal `text`, ignoring case; `text` must be in lower case.
  func matches(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    let other = text.utf8Start
    for index in 0..<count where HTTPSyntax.lowercased(self[index]) != other[index] { return false }
    return true
  }

  /// The range without surrounding spaces and tabs.
  var trimmed: UnsafeRawBufferPointer {
    var (start, end) = (0, count)
    while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
    while start < end, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: self[start..<end])
  }

  /// Calls `body` with each member of a comma-separated list, including empty ones, without surrounding space.
  func forEachMember(_ body: (UnsafeRawBufferPointer) -> Void) {
    var start = 0
    for index in 0...count where index == count || self[index] == UInt8(ascii: ",") {
      body(UnsafeRawBufferPointer(rebasing: self[start..<index]).trimmed)
      start = index + 1
    }
  }
}
