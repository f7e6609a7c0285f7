import Foundation

/// The sanitizer that the tests run under, as `Scripts/sanitize` says.
package enum Sanitizer: String {
  case thread, address

  package static let current = ProcessInfo.processInfo.environment["FEEDSTREAM_SANITIZER"].flatMap(Sanitizer.init)

  /// The signals among `signals` that end a program as they end it without a sanitizer, which takes bad accesses itself.
  package static func leaves(_ signals: [Int32?]) -> [Int32?] {
    signals.filter { current == nil || $0 != SIGSEGV }
  }
}
