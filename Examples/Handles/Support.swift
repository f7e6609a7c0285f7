@_exported import CLibrary
import FeedStream
import Synchronization

/// The program's exit status.
let status = Atomic<Int32>(0)

/// Prints a line immediately, even into a pipe.
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
  /// Runs the stream and ignores its values; a failure is written to standard error and sets the exit status.
  func run() -> AnyCancellable {
    sink {
      guard case .failure(let error) = $0 else { return }
      complain("\(error)")
      status.store(1, ordering: .relaxed)
    } receiveValue: { _ in
    }
  }
}
