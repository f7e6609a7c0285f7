import Foundation

/// The process's file descriptors.
package enum Descriptors {
  /// True if no file descriptor is left, either for the process or for the whole machine.
  package static var areExhausted: Bool {
    let copy = dup(STDERR_FILENO)
    guard copy < 0 else {
      close(copy)
      return false
    }
    return errno == EMFILE || errno == ENFILE
  }
}
