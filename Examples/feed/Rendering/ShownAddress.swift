import FeedRedis
import Foundation
import ImageFeed
import PlainText

extension String {
  /// The text as one word of a shell command to copy, safe for a terminal. It is quoted unless no shell interprets any
  /// of its characters. A backslash is outside the quotes, because in fish it escapes a quote, even in a quoted text.
  var shellWord: String {
    let isPlain = utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "a")...UInt8(ascii: "z"): true
      default: "%+,-./:@_".utf8.contains(byte)
      }
    }
    if isPlain, !isEmpty { return self }
    // By scalars: a shell reads a quote with a combining mark after it as a quote.
    let marks: Set<Unicode.Scalar> = ["'", "\\"]
    return "'" + printable.unicodeScalars.map { marks.contains($0) ? "'\\\($0)'" : String($0) }.joined() + "'"
  }

  /// The text of an argument with an ellipsis for a possible password, even if it isn't a valid URL. In a store's URL,
  /// everything before the last `@` is replaced, because the user may be missing.
  var withoutPossiblePassword: String {
    // A query may contain another URL.
    let scheme = prefixMatch(of: /(?:feed:)?[A-Za-z][A-Za-z0-9+.\-]*:\/\//.ignoresCase())
    let start = scheme?.range.upperBound ?? startIndex
    let isStore = RedisAddress.isAddress(self)
    // In a valid URL, an `@` in the path isn't the end of a password. Otherwise, a slash may be part of the password.
    let isValid = !isStore && scheme != nil && URL(string: self)?.host?.isEmpty == false
    let end = isValid ? self[start...].firstIndex { "/?#".contains($0) } ?? endIndex : endIndex
    guard let at = self[start..<end].lastIndex(of: "@") else { return self }
    if isStore { return "\(self[..<start])…\(self[at...])" }
    guard let colon = self[start..<at].firstIndex(of: ":") else { return self }
    return "\(self[...colon])…\(self[at...])"
  }
}

extension URL {
  /// The URL for display: safe for a terminal, and without a password.
  var shown: String { withoutPassword.printable }

  /// The URL with an ellipsis for its password.
  var withoutPassword: String {
    guard password() != nil, var parts = URLComponents(url: self, resolvingAgainstBaseURL: false) else {
      return absoluteString
    }
    parts.password = "…"
    return parts.string?.replacingOccurrences(of: "%E2%80%A6", with: "…") ?? "\(scheme ?? ""):…"
  }
}
