import FeedStream
import Foundation

/// Standard output, which may be slow or closed; it never blocks the loop.
///
/// A reader that does not read (a pager, a stopped terminal) must not delay Ctrl-C and saves: unread text is kept here,
/// and the writer is called back when all of it has been written.
final class Output {
  /// The reason why nothing can be written any more.
  enum End: Equatable {
    /// Nobody reads any more.
    case closed
    /// The system's error number.
    case failed(Int32)
  }

  /// How many pages are written before the loop's other work gets its turn: half a mebibyte.
  private static let writesAtOnce = 128

  private let loop: EventLoop
  private let descriptor: Int32
  private let onEnd: (End) -> Void
  private var waiting: ArraySlice<UInt8> = []
  private var whenWritten: (() -> Void)?
  private var hasEnded = false

  /// - Parameter onEnd: called once, when writing becomes impossible.
  init(on loop: EventLoop, descriptor: Int32 = STDOUT_FILENO, onEnd: @escaping (End) -> Void) {
    self.loop = loop
    self.descriptor = descriptor
    self.onEnd = onEnd
  }

  /// Writes `text`, and calls `then` when all of it has been written. Only one write at a time.
  func write(_ text: [UInt8], then: @escaping () -> Void) {
    precondition(whenWritten == nil, "Output.write: wait until what was written before is gone")
    guard !hasEnded else { return }
    waiting = text[...]
    whenWritten = then
    drain()
  }

  /// Drops unwritten text, and writes nothing more.
  func stop() {
    hasEnded = true
    waiting = []
    whenWritten = nil
  }

  private func drain() {
    var writes = 0
    while !hasEnded, !waiting.isEmpty {
      // A fast reader does not block the loop either.
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
      // A pipe with any room has room for a page (pipe(7)): this does not block.
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
  /// Detects that a pipe's reader has gone even while nothing is written.
  ///
  /// - Returns: ends the watch when cancelled; `nil` when there is nothing to watch.
  func watchReader() -> PollHandle? {
    // Only a pipe: opening it again gives a separate description, so that the watch does not make the one we share with
    // other processes non-blocking.
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
