import FeedStream
import Foundation

/// Standard output, which may be slow or closed, without ever keeping the loop from turning.
///
/// A reader that does not read (a pager, a stopped terminal) must not keep Ctrl-C and saves waiting: what it does not
/// take yet waits here, and whoever writes is told when it is gone.
final class Output {
  /// Why nothing can be written any more.
  enum End: Equatable {
    /// Nobody reads.
    case closed
    /// The system's error number.
    case failed(Int32)
  }

  /// So many writes of a page, half a mebibyte, and then the loop's other work.
  private static let writesAtOnce = 128

  private let loop: EventLoop
  private let descriptor: Int32
  private let onEnd: (End) -> Void
  private var waiting: ArraySlice<UInt8> = []
  private var whenWritten: (() -> Void)?
  private var hasEnded = false

  /// - Parameter onEnd: told once, when writing turns out to be impossible.
  init(on loop: EventLoop, descriptor: Int32 = STDOUT_FILENO, onEnd: @escaping (End) -> Void) {
    self.loop = loop
    self.descriptor = descriptor
    self.onEnd = onEnd
  }

  /// Writes `text`, and calls `then` when all of it has been taken. One write at a time.
  func write(_ text: [UInt8], then: @escaping () -> Void) {
    precondition(whenWritten == nil, "Output.write: wait until what was written before is gone")
    guard !hasEnded else { return }
    waiting = text[...]
    whenWritten = then
    drain()
  }

  /// Drops what has not been written, and writes nothing more.
  func stop() {
    hasEnded = true
    waiting = []
    whenWritten = nil
  }

  private func drain() {
    var writes = 0
    while !hasEnded, !waiting.isEmpty {
      // A reader that is fast does not keep the loop from turning.
      writes += 1
      guard writes <= Self.writesAtOnce else {
        loop.schedule { [self] in drain() }
        return
      }
      var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&state, 1, 0) != 0 else {
        loop.schedule(after: loop.now.advanced(by: .milliseconds(10))) { [self] in drain() }
        return
      }
      // A pipe that has room at all has room for a page (pipe(7)): this does not block.
      let count = waiting.prefix(4096).withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        waiting = waiting.dropFirst(count)
      } else if errno != EINTR && errno != EAGAIN {
        return end(errno == EPIPE || errno == EBADF ? .closed : .failed(errno))
      }
    }
    let then = whenWritten
    whenWritten = nil
    then?()
  }

  private func end(_ end: End) {
    guard !hasEnded else { return }
    stop()
    onEnd(end)
  }
}

extension Output {
  /// Notices that a pipe's reader has gone even while nothing is written.
  ///
  /// - Returns: ends the watch; `nil` where there is nothing to watch.
  func watchReader() -> PollHandle? {
    // Only a pipe: opening it anew gives a description of our own, so that the one we share with other processes is not
    // made non-blocking by the watch.
    guard Self.isPipe(descriptor) else { return nil }
    let own = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_CLOEXEC)
    guard own >= 0, let watch = try? PollHandle(on: loop, fileDescriptor: own) else { return nil }
    // The descriptor stays open until the process ends.
    watch.keepsLoopAlive = false
    try? watch.start(.disconnect) { [weak self] _, _ in self?.end(.closed) }
    return watch
  }

  static func isPipe(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
  }
}
