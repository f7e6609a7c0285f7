import Foundation

/// The process's file descriptors.
package enum Descriptors {
  /// True when none is left, for the process or in the whole machine.
  package static var areExhausted: Bool {
    let copy = dup(STDERR_FILENO)
    guard copy < 0 else {
      close(copy)
      return false
    }
    return errno == EMFILE || errno == ENFILE
  }
}
