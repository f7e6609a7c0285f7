import Foundation

/// The sanitizer that the tests run under, as `Scripts/sanitize` says.
package enum Sanitizer: String {
  case thread, address

  package static let current = ProcessInfo.processInfo.environment["FEEDSTREAM_SANITIZER"].flatMap(Sanitizer.init)

  /// The signals that end a program in the same way as without a sanitizer, which handles invalid accesses itself.
  package static func leaves(_ signals: [Int32?]) -> [Int32?] {
    signals.filter { current == nil || $0 != SIGSEGV }
  }
}
