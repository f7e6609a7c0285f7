import Foundation

/// The sanitizer that the tests run under, as `Scripts/sanitize` says.
enum Sanitizer: String {
  case thread, address

  static let current = ProcessInfo.processInfo.environment["FEEDSTREAM_SANITIZER"].flatMap(Sanitizer.init)
}
