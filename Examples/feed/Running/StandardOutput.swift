import ArgumentParser
import Foundation

/// Standard output for commands without a loop.
enum StandardOutput {
  static func write(_ text: String) throws {
    signal(SIGPIPE, SIG_IGN)
    guard !text.isEmpty else { return }
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      let code = errno
      guard code != EPIPE, code != EBADF else { throw ExitCode(128 + SIGPIPE) }
      StandardError.shared.write("feed: cannot write to standard output: \(String(cString: strerror(code)))\n")
      throw ExitCode.failure
    }
  }
}
