internal import CLibUV
import CLibrary

/// A request for the stack of another thread in one turn of its loop. That thread captures the stack in a signal handler.
///
/// The signal also interrupts calls such as `usleep`, which often ends the turn. So the handler records the turn in
/// which it captures the stack. The record shows whether the stack is that of the requested turn, even if the turn is
/// over when the stack is read.
struct StackRequest {
  #if os(Linux)
    // Freed only after the thread has written to it. The state is released at the same time, because the thread reads
    // the state's turn.
    private let memory: UnsafeMutablePointer<clibuv_stack>
    private let state: Unmanaged<TurnState>
    private let turn: UInt64

    /// - Returns: `nil` when the thread can't be interrupted.
    init?(_ turn: TurnState.Turn, of state: TurnState) {
      memory = .allocate(capacity: 1)
      memory.initialize(to: clibuv_stack())
      memory.pointee.turn = state.number
      self.turn = turn.number
      self.state = .passRetained(state)
      guard clibuv_request_stack(turn.thread, memory) else {
        free()
        return nil
      }
    }

    /// The addresses of the calls, innermost first; empty if the thread had ended the turn before it captured them.
    /// Waits at most two seconds for them, because a busy system may not run the thread sooner.
    func frames() -> [UInt] {
      for _ in 0..<2_000 {
        if clibuv_is_taken(memory) {
          defer { free() }
          guard memory.pointee.taken_in == turn else { return [] }
          return withUnsafeBytes(of: &memory.pointee.frames) {
            Array($0.bindMemory(to: UInt.self).prefix(Int(memory.pointee.count)))
          }
        }
        uv_sleep(1)
      }
      // The thread is blocking the signal, and may still write to the memory when it unblocks the signal, so the memory
      // is leaked.
      return []
    }

    private func free() {
      memory.deallocate()
      state.release()
    }
  #else
    init?(_ turn: TurnState.Turn, of state: TurnState) { return nil }
    func frames() -> [UInt] { [] }
  #endif
}

/// The time for which a thread was ready to run while the system ran others.
enum ProcessorDelay {
  /// The delay of `thread` in nanoseconds; 0 if the system doesn't report it.
  static func of(_ thread: Int32) -> UInt64 {
    let fields = textOfSystemFile(at: "/proc/self/task/\(thread)/schedstat").split(separator: " ")
    return fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0
  }
}

/// The names of threads, for messages.
enum ThreadNames {
  static func name(of thread: Int32) -> String {
    if thread == getpid() { return "the main thread" }
    let name = textOfSystemFile(at: "/proc/self/task/\(thread)/comm").prefix { $0 != "\n" }
    return name.isEmpty ? "a thread" : "thread \(name)"
  }
}
