import FeedStream
import Synchronization

#if canImport(Glibc)
  @_exported import Glibc
#else
  @_exported import Darwin
#endif

/// The program's exit status.
let status = Atomic<Int32>(0)

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
      status.store(1, ordering: .relaxed)
    } receiveValue: { _ in
    }
  }
}
