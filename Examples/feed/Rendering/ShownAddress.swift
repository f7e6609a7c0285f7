import Foundation
import ImageFeed
import PlainText

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
