import Foundation
import ImageFeed

/// Writes the demo's output, and counts the checks.
struct DemoReport {
  private let style: Style
  private let write: (String) -> Void
  private(set) var failures = 0
  private(set) var checks = 0

  init(style: Style, write: @escaping (String) -> Void) {
    self.style = style
    self.write = write
  }

  func say(_ text: String) { write("\(text)\n") }

  func scenario(_ number: Int, _ given: String, _ expected: String) {
    write("\n\(style.bold("\(number). \(given)"))\n   → \(expected)\n\n")
  }

  /// Writes the text that a user would see, indented.
  func show(_ text: String) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      write(line.isEmpty ? "\n" : "     \(line)\n")
    }
  }

  mutating func check(_ fact: String, _ isSo: Bool) {
    checks += 1
    if !isSo { failures += 1 }
    write("   \(isSo ? style.good("✓") : style.bad("✗ FAILED:")) \(fact)\n")
  }

  func conclude() {
    let text =
      failures == 0
      ? style.good("All \(checks) checks passed: each scenario had the specified result.")
      : style.bad("\(failures) of \(checks) checks failed.")
    write("\n\(text)\n")
  }
}
