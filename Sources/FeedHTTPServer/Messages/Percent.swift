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
    for part in query.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if decoded(pair[0], isQuery: true) == name { return pair.count == 1 ? "" : decoded(pair[1], isQuery: true) }
    }
    return nil
  }
}
