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
