/// Percent-encoding in URLs (RFC 3986, 2.1).
enum Percent {
  /// The text that `escaped` represents; `nil` if it isn't UTF-8 or an escape is incomplete.
  ///
  /// - Parameter isQuery: true to read `+` as a space.
  static func decoded(_ escaped: Substring, isQuery: Bool = false) -> String? {
    var bytes: [UInt8] = []
    var rest = escaped.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(ByteClass.hexValue),
          let low = rest.popFirst().flatMap(ByteClass.hexValue)
        else { return nil }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where isQuery: bytes.append(0x20)
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The unescaped value of a query parameter (`a=b&c=d`).
  static func value(of name: String, in query: String?) -> String? {
    guard let query else { return nil }
    for pair in pairs(query) where decoded(pair.name, isQuery: true) == name {
      return decoded(pair.value, isQuery: true)
    }
    return nil
  }

  /// The escaped names and values of a query or a form.
  static func pairs(_ text: String) -> some Sequence<(name: Substring, value: Substring)> {
    // By bytes: a combining character after a delimiter doesn't change it.
    text.utf8.split(separator: UInt8(ascii: "&")).lazy.map { part in
      let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      return (name: Substring(pair[0]), value: pair.count == 1 ? "" : Substring(pair[1]))
    }
  }
}
