import Foundation

/// The process's file descriptors.
package enum Descriptors {
  /// True if the process or the whole machine has no file descriptors left.
  package static var areExhausted: Bool {
    let copy = dup(STDERR_FILENO)
    guard copy < 0 else {
      close(copy)
      return false
    }
    return errno == EMFILE || errno == ENFILE
  }
}
