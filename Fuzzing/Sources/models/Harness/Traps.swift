import Glibc

/// The case that is being played. Read by a signal handler of the only thread.
nonisolated(unsafe) var current: (name: String, seed: UInt64) = ("", 0)

/// Names the case before a trap ends the process.
func watchForTraps() {
  for number in [SIGILL, SIGTRAP, SIGSEGV, SIGABRT] {
    signal(number) { number in
      print("\(current.name) TRAPPED: models '\(current.name)' 1 \(current.seed)")
      fflush(nil)
      signal(number, SIG_DFL)
      raise(number)
    }
  }
}
