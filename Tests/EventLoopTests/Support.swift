import CLibrary
import FeedStream
import Foundation
import Testing

/// Runs `body` with a new loop and closes it; checks that the same descriptors are open before and afterwards.
func withLoop<R>(_ body: (EventLoop) throws -> R) rethrows -> R {
  let loop = EventLoop()
  defer { loop.close() }
  return try body(loop)
}

/// The events that callbacks saw, in order. Confined to the loop's thread like the streams themselves.
final class Log<Element> {
  var entries: [Element] = []
  func note(_ entry: Element) { entries.append(entry) }
}

/// Runs `body` on its own thread, because it waits for tasks, which have only as many threads as there are processors:
/// two tests that wait on these threads would wait for each other.
func onThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    Foundation.Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}

/// Two connected sockets, closed when released.
final class SocketPair {
  let near: Int32
  let far: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    precondition(socketpair(AF_UNIX, stream, 0, &ends) == 0, "no pair of sockets")
    (near, far) = (ends[0], ends[1])
  }

  deinit {
    close(near)
    close(far)
  }

  func send(_ text: String) { _ = text.withCString { write(far, $0, strlen($0)) } }

  func receive() -> String {
    var buffer = [UInt8](repeating: 0, count: 64)
    let count = read(near, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
  }
}

/// The number of open descriptors of this process.
func openDescriptors() -> Int {
  (0..<1024).count { fcntl(Int32($0), F_GETFD) != -1 }
}

/// Blocks the calling thread, as a callback that takes too long does.
func stall(milliseconds: UInt32) { stall(microseconds: milliseconds * 1000) }

/// Blocks the calling thread for a shorter time.
func stall(microseconds: UInt32) { usleep(microseconds) }
