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

/// An argument that isn't a number, or that is out of range.
struct InvalidNumber: Error, CustomStringConvertible {
  let text: String
  let range: ClosedRange<Int>
  var description: String { "\(text): expected a number from \(range.lowerBound) to \(range.upperBound)" }
}

/// The number that an argument contains.
func number(_ text: String, in range: ClosedRange<Int>) throws(InvalidNumber) -> Int {
  guard let number = Int(text), range.contains(number) else { throw InvalidNumber(text: text, range: range) }
  return number
}

/// The port that an argument contains; the system chooses one for 0.
func port(_ text: String) throws(InvalidNumber) -> Int { try number(text, in: 0...65_535) }

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
