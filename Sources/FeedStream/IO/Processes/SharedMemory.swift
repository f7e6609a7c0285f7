internal import CLibUV
import CLibrary

/// Memory that a program shares with this process; see ``RunningSubprocess/sharedMemory``.
///
/// Sharing takes less time than a pipe for results of megabytes. The program may write at any time, so read the memory
/// only once.
package final class SharedMemory: Sendable {
  let descriptor: Int32
  // nonisolated(unsafe): the pointer never changes, and the bytes are only copied; another process may write them anyway.
  nonisolated(unsafe) private let memory: UnsafeMutableRawBufferPointer

  /// - Returns: `nil` for no bytes, or if the system refuses or isn't Linux.
  init?(count: Int) {
    #if os(Linux)
      guard count > 0 else { return nil }
      descriptor = clibuv_open_memory(off_t(count))
      guard descriptor >= 0 else { return nil }
      guard let address = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), address != MAP_FAILED
      else {
        System.close(descriptor)
        return nil
      }
      memory = UnsafeMutableRawBufferPointer(start: address, count: count)
    #else
      return nil
    #endif
  }

  deinit {
    munmap(memory.baseAddress, memory.count)
    System.close(descriptor)
  }

  package var count: Int { memory.count }

  /// A copy of the first bytes.
  ///
  /// - Precondition: `count` is at most ``count``.
  package func prefix(_ count: Int) -> Chunk { Chunk(copying: UnsafeRawBufferPointer(rebasing: memory[..<count])) }
}
