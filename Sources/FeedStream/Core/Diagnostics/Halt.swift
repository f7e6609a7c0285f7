import CLibrary
import Synchronization

/// Stops the process with a message that names the broken rule, even in release builds.
///
/// The message ends with the section of `docs/Troubleshooting.md` that explains the rule: `section` is its anchor, and
/// `nil` for a message that needs no explanation.
///
/// Several threads often break a rule at the same moment. The first of them stops the process, and the others wait: if
/// several threads stopped it at once, Swift's backtraces would be interleaved and might never end.
// Not inlined, so that release builds keep the message.
@inline(never) @usableFromInline func halt(
  _ message: String, section: StaticString? = "a-stream-lives-on-one-thread", file: StaticString = #fileID,
  line: UInt = #line
) -> Never {
  if isHalting.exchange(true, ordering: .relaxed) {
    while true { pause() }
  }
  let place = section.map { " (docs/Troubleshooting.md#\($0))" } ?? ""
  fatalError(message + place, file: file, line: line)
}

private let isHalting = Atomic(false)

/// Stops the process with a message unless `condition` is true. This function replaces Swift's own `precondition`,
/// which prints no message in release builds.
@inlinable @inline(__always)
package func precondition(
  _ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) {
  if _slowPath(!condition()) { halt(message(), section: nil, file: file, line: line) }
}

/// Stops the process with a message, in release builds too.
@inlinable package func preconditionFailure(
  _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
  halt(message(), section: nil, file: file, line: line)
}
