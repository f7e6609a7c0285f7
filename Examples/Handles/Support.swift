import FeedStream

#if canImport(Glibc)
  @_exported import Glibc
#else
  @_exported import Darwin
#endif

/// What the program exits with. Written on the loop's thread, which is the main one.
nonisolated(unsafe) var status: Int32 = 0

/// Prints a line now, also into a pipe.
func announce(_ line: String) {
  print(line)
  fflush(nil)
}

/// Prints a line to standard error.
func complain(_ line: String) {
  var line = line + "\n"
  line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}

extension Publisher {
  /// Runs it, with nothing to do for each value; a failure is a line on standard error and the program's status.
  func run() -> AnyCancellable {
    sink {
      guard case .failure(let error) = $0 else { return }
      complain("\(error)")
      status = 1
    } receiveValue: { _ in
    }
  }
}
