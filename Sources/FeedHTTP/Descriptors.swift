import Foundation

/// The process's file descriptors.
package enum Descriptors {
  /// Whether there is none left, for the process or in the whole machine.
  package static var areExhausted: Bool {
    let copy = dup(STDERR_FILENO)
    guard copy < 0 else {
      close(copy)
      return false
    }
    return errno == EMFILE || errno == ENFILE
  }
}
