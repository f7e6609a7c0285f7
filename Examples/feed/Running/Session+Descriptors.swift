import ArgumentParser
import Foundation

extension Session {
  /// Makes failed writes return errors instead of raising signals, and opens standard descriptors that are closed.
  /// Otherwise, a file that is opened later would get the number of a standard descriptor, and output would be written
  /// to that file.
  static func prepareDescriptors() {
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // Open it for reading only, so that writing to it still fails.
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Exits with a message if there aren't enough descriptors for the loop, the cache, a few connections, and decoding
  /// processes. With fewer, libdispatch traps, or requests wait for each other's descriptors.
  static func requireDescriptors() {
    DescriptorLimit.raise(to: enoughDescriptors)
    let opened = (0..<fewestDescriptors).map { _ in dup(STDERR_FILENO) }
    for descriptor in opened where descriptor >= 0 { close(descriptor) }
    guard opened.contains(-1) else { return }
    StandardError.shared.write("feed: too few file descriptors are left. Raise the limit (ulimit -n) to 64 or more.\n")
    exit(ExitCode.failure.rawValue)
  }

  /// True if this process was started with the signal ignored: `SIG_IGN` is 1.
  static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    guard sigaction(number, nil, &action) == 0 else { return false }
    let handler = action.__sigaction_handler.sa_handler
    return unsafeBitCast(handler, to: UnsafeRawPointer?.self) == UnsafeRawPointer(bitPattern: 1)
  }

  private static let enoughDescriptors = 256
  private static let fewestDescriptors = 48
}
