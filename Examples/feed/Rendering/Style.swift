import Foundation

/// Highlights text on the screen.
struct Style: Equatable {
  let hasColor: Bool

  /// A style without highlighting.
  static let plain = Style(hasColor: false)

  /// The style for a descriptor: color on a terminal that supports it, unless the user doesn't want colors
  /// (no-color.org).
  static func suiting(
    _ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Style {
    Style(hasColor: isScreen(descriptor, environment: environment) && environment["NO_COLOR", default: ""].isEmpty)
  }

  /// True if a descriptor is a terminal that supports more than plain text.
  static func isScreen(
    _ descriptor: Int32, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Bool {
    isatty(descriptor) == 1 && environment["TERM"] != "dumb"
  }

  /// The current width of a terminal; `nil` if the descriptor isn't a terminal, or the width is unknown.
  static func columns(of descriptor: Int32) -> Int? { winsize(of: descriptor).map { Int($0.ws_col) } }

  func bold(_ text: String) -> String { wrap(text, "1") }
  func dim(_ text: String) -> String { wrap(text, "2") }
  func good(_ text: String) -> String { wrap(text, "32") }
  func warning(_ text: String) -> String { wrap(text, "33") }
  func bad(_ text: String) -> String { wrap(text, "31") }

  private func wrap(_ text: String, _ code: String) -> String {
    hasColor ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

extension winsize {
  /// The current size of a terminal; `nil` if the descriptor isn't a terminal, or the width is unknown. The other
  /// values are 0 if unknown.
  init?(of descriptor: Int32) {
    self.init()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &self) == 0, ws_col > 0 else { return nil }
  }
}
