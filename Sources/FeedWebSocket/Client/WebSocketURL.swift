/// A parsed WebSocket URL (RFC 6455, 3).
struct WebSocketURL: Hashable {
  let isSecure: Bool
  /// A name or a numeric address; an IPv6 address without its brackets.
  let host: String
  let port: Int
  /// The request target: the path and the query.
  let target: String

  init(_ text: String) throws(WebSocketError) {
    func bad(_ reason: String) -> WebSocketError { .badURL(Self.withoutSecrets(text), reason: reason) }
    guard text.utf8.count <= 8 * 1024, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw bad("it has characters that must be escaped, or is longer than 8 KiB")
    }
    guard let colon = text.range(of: "://") else { throw bad("it does not begin with ws:// or wss://") }
    switch text[..<colon.lowerBound].lowercased() {
    case "ws": isSecure = false
    case "wss": isSecure = true
    default: throw bad("it does not begin with ws:// or wss://")
    }
    guard !text.contains("#") else { throw bad("it has a fragment (#), which a WebSocket URL can't have") }
    let rest = text[colon.upperBound...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else {
      throw bad("it has a user name or a password; send them in the Authorization header field instead")
    }
    let tail = rest[authority.endIndex...]
    target = tail.isEmpty ? "/" : tail.hasPrefix("?") ? "/" + tail : String(tail)

    var name = authority
    var number: Substring?
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { throw bad("a bracket is not closed") }
      name = authority[authority.index(after: authority.startIndex)..<end]
      let after = authority[authority.index(after: end)...]
      guard after.isEmpty || after.hasPrefix(":") else { throw bad("only a port may follow the bracket") }
      number = after.isEmpty ? nil : after.dropFirst()
    } else if let colon = authority.firstIndex(of: ":") {
      name = authority[..<colon]
      number = authority[authority.index(after: colon)...]
    }
    guard !name.isEmpty else { throw bad("it has no host") }
    let isAddress = authority.hasPrefix("[")
    guard name.utf8.allSatisfy({ isAddress ? $0 != UInt8(ascii: "[") : Self.isHostByte($0) }) else {
      throw bad("the host has characters that aren't allowed in a host")
    }
    host = String(name)
    if let number, !number.isEmpty {
      guard number.utf8.count <= 5, number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(number),
        (1...65_535).contains(port)
      else { throw bad("the port must be from 1 to 65535") }
      self.port = port
    } else {
      port = isSecure ? 443 : 80
    }
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"): true
    default: false
    }
  }

  /// The text without any part that may be a password.
  private static func withoutSecrets(_ text: String) -> String {
    // As bytes: a character may be `@` with a combining mark.
    guard let at = text.utf8.lastIndex(of: UInt8(ascii: "@")) else { return text }
    // Without a scheme, `://` may be a part of the password or the query.
    let scheme = text[..<at].prefix { $0 != ":" }
    let hasScheme = text[scheme.endIndex..<at].hasPrefix("://")
    return "\(hasScheme ? "\(scheme)://" : "")…\(text[at...])"
  }

  private var bracketed: String { host.contains(":") ? "[\(host)]" : host }
  /// The host and port to connect to.
  var place: String { "\(bracketed):\(port)" }
  /// The value of `Host`.
  var field: String { port == (isSecure ? 443 : 80) ? bracketed : place }
}
