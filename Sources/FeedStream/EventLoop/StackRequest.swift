internal import CLibUV

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Another thread's stack, which that thread takes in a signal handler.
struct StackRequest {
  #if os(Linux)
    // Freed only when the thread has written it.
    private let memory: UnsafeMutablePointer<clibuv_stack>

    /// - Returns: `nil` when the thread can't be interrupted.
    init?(_ thread: Int32) {
      memory = .allocate(capacity: 1)
      memory.initialize(to: clibuv_stack())
      guard clibuv_request_stack(thread, memory) else {
        memory.deallocate()
        return nil
      }
    }

    /// The addresses of the calls, from the innermost. Waits for them, at most two seconds: a busy system may not run the thread sooner.
    func frames() -> [UInt] {
      for _ in 0..<2_000 {
        if clibuv_is_taken(memory) {
          defer { memory.deallocate() }
          return withUnsafeBytes(of: &memory.pointee.frames) {
            Array($0.bindMemory(to: UInt.self).prefix(Int(memory.pointee.count)))
          }
        }
        uv_sleep(1)
      }
      // The thread blocks the signal, and may write to the memory whenever it no longer does.
      return []
    }
  #else
    init?(_ thread: Int32) { return nil }
    func frames() -> [UInt] { [] }
  #endif
}

/// The time for which a thread was ready to run while the system ran others.
enum ProcessorDelay {
  /// In nanoseconds; 0 where the system does not say.
  static func of(_ thread: Int32) -> UInt64 {
    let fields = contents(ofTask: thread, "schedstat").split(separator: " ")
    return fields.count > 1 ? UInt64(fields[1]) ?? 0 : 0
  }
}

/// The names of threads, for messages.
enum ThreadNames {
  static func name(of thread: Int32) -> String {
    if thread == getpid() { return "the main thread" }
    let name = contents(ofTask: thread, "comm").prefix { $0 != "\n" }
    return name.isEmpty ? "a thread" : "thread \(name)"
  }
}

/// A short file about a thread of this process; empty if there is none.
private func contents(ofTask thread: Int32, _ file: String) -> String {
  let descriptor = open("/proc/self/task/\(thread)/\(file)", O_RDONLY | O_CLOEXEC)
  guard descriptor >= 0 else { return "" }
  defer { close(descriptor) }
  return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 128) { buffer in
    String(decoding: buffer.prefix(max(0, read(descriptor, buffer.baseAddress, buffer.count))), as: UTF8.self)
  }
}
