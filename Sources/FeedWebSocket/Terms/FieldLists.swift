internal import FeedHTTPTypes

/// A malformed field, or a choice that was not offered.
struct FieldSyntaxError: Error {}

/// Lists of tokens in fields (RFC 9110, 5.6).
enum TokenList {
  /// The tokens of all lists; `nil` if a member isn't a token.
  static func parse(_ lists: [String]) -> [String]? {
    var tokens: [String] = []
    for list in lists {
      for part in list.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
        let token = String(Substring(part).trimmed)
        // A list may have empty elements (5.6.1.2).
        if token.isEmpty { continue }
        guard HTTPSyntax.isToken(token) else { return nil }
        tokens.append(token)
      }
    }
    return tokens
  }
}

/// The `Sec-WebSocket-Extensions` field (RFC 6455, 9.1).
enum ExtensionList {
  struct Element {
    var name: String
    var parameters: [(name: String, value: String?)] = []
  }

  /// The maximum number of extensions in one handshake.
  private static let most = 32

  static func parse(_ lists: [String]) throws(FieldSyntaxError) -> [Element] {
    var elements: [Element] = []
    for list in lists {
      var cursor = Cursor(rest: list.utf8[...])
      while true {
        cursor.skipSpace()
        if cursor.take(",") { continue }
        if cursor.rest.isEmpty { break }
        var element = Element(name: try cursor.token())
        while cursor.take(";") {
          let name = try cursor.token()
          let value = cursor.take("=") ? try cursor.tokenOrQuoted() : nil
          element.parameters.append((name, value))
          guard element.parameters.count <= most else { throw FieldSyntaxError() }
        }
        elements.append(element)
        guard elements.count <= most, cursor.rest.isEmpty || cursor.take(",") else { throw FieldSyntaxError() }
      }
    }
    return elements
  }

  private struct Cursor {
    var rest: Substring.UTF8View

    mutating func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

    /// Consumes a character and the surrounding space.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
      skipSpace()
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      skipSpace()
      return true
    }

    mutating func token() throws(FieldSyntaxError) -> String {
      let bytes = rest.prefix(while: HTTPSyntax.isTokenByte)
      guard !bytes.isEmpty, let token = String(bytes) else { throw FieldSyntaxError() }
      rest = rest[bytes.endIndex...]
      skipSpace()
      return token
    }

    /// Reads a token, or a quoted value, which must be a token without its quotes (RFC 6455, 9.1).
    mutating func tokenOrQuoted() throws(FieldSyntaxError) -> String {
      guard rest.first == UInt8(ascii: "\"") else { return try token() }
      rest.removeFirst()
      var bytes: [UInt8] = []
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        guard byte == UInt8(ascii: "\\") else {
          bytes.append(byte)
          continue
        }
        guard let escaped = rest.popFirst() else { throw FieldSyntaxError() }
        bytes.append(escaped)
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard HTTPSyntax.isToken(text) else { throw FieldSyntaxError() }
      skipSpace()
      return text
    }
  }
}
