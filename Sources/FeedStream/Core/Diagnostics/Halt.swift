import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Stops the process with a message that names the broken rule, even in release builds.
///
/// Two threads that break a rule often do so at the same time. The first one stops the process; the others wait for
/// that, because Swift's backtraces of several threads that stop at once hide each other's and may never end.
// Not inlined, so that release builds keep the message.
@inline(never) func halt(_ message: String, file: StaticString = #fileID, line: UInt = #line) -> Never {
  if isHalting.exchange(true, ordering: .relaxed) {
    while true { pause() }
  }
  fatalError(message, file: file, line: line)
}

private let isHalting = Atomic(false)
