import Foundation

/// A TCP port of the loopback interface for a program that cannot choose one itself, reserved while this object lives.
///
/// A port that the kernel chose is free only until the kernel assigns it again, which happens when many tests open
/// connections. This one is below the range that the kernel chooses from, and a lock on a file keeps other test
/// processes from it.
package final class ReservedPort: Sendable {
  package let number: Int
  private let lock: Int32

  package init() throws {
    for number in (20_000..<32_000).shuffled().prefix(200) {
      let path = FileManager.default.temporaryDirectory.appending(path: "feedstream-port-\(number)").path
      let lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard lock >= 0 else { continue }
      if flock(lock, LOCK_EX | LOCK_NB) == 0, Self.isFree(number) {
        (self.number, self.lock) = (number, lock)
        return
      }
      close(lock)
    }
    throw POSIXError(.EADDRINUSE)
  }

  deinit { close(lock) }

  private static func isFree(_ number: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    // Reuse the address, as servers do: connections of an earlier server at this port may still be closing.
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    return withLoopbackAddress(port: number) { bind(descriptor, $0, $1) == 0 }
  }
}
