import Foundation

/// Writes programs that tests run.
///
/// This process never has such a file open for writing. If it had, a process that another test starts at that moment would
/// inherit the descriptor, and the kernel refuses to run a file that somebody can write to (ETXTBSY).
package enum ExecutableFile {
  /// Writes a shell script that can be run.
  package static func write(script: String, to path: String) throws {
    try run(#"printf '%s\n' '#!/bin/sh' "$1" >"$2" && chmod 755 "$2""#, script, path)
  }

  /// Copies a program.
  package static func copy(_ program: String, to path: String) throws { try run(#"cp "$1" "$2""#, program, path) }

  private static func run(_ line: String, _ arguments: String...) throws {
    let ending = try ChildProcess.run("/bin/sh", ["-c", line, "sh"] + arguments, errors: .inherited).ending
    guard ending == .exited(0) else { throw CocoaError(.fileWriteUnknown) }
  }
}
