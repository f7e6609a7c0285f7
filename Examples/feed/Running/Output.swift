import FeedStream
import Foundation

/// Standard output, which may be slow or closed; it never blocks the loop.
///
/// If the reader (a pager, a stopped terminal) stops reading, Ctrl-C and saves must not be delayed. Unwritten text is
/// therefore kept here, and the writer is called back when all of it has been written. If standard output is a file,
/// long text is written off the loop.
final class Output {
  /// The reason why nothing can be written anymore.
  enum End: Equatable {
    /// The reader of the output is gone.
    case closed
    /// The system's error number.
    case failed(Int32)
  }

  /// The maximum number of bytes that are written before other work on the loop runs.
  private static let bytesAtOnce = 512 << 10
  /// The number of bytes that fit into a writable pipe, which has room for a page (pipe(7)), and into any other
  /// descriptor that can be polled.
  private static let page = 4096
  /// The default capacity of a pipe, in bytes.
  private static let pipeful = 64 << 10

  private let loop: EventLoop
  private let descriptor: Int32
  private let onEnd: (End) -> Void
  private var waiting: ArraySlice<UInt8> = []
  private var whenWritten: (() -> Void)?
  /// True once nothing more is written.
  private var hasEnded = false
  /// True if a write completes even if its text isn't written.
  private var completesUnwritten = false
  /// True once text that the reader doesn't take is dropped.
  private var dropsUnread = false
  private let isFile: Bool
  private lazy var worker = SerialWorker(on: loop)
  private lazy var pipe = PipeWatch(on: loop, of: descriptor)

  /// - Parameter onEnd: called once, when writing becomes impossible.
  init(on loop: EventLoop, descriptor: Int32 = STDOUT_FILENO, onEnd: @escaping (End) -> Void) {
    self.loop = loop
    self.descriptor = descriptor
    self.onEnd = onEnd
    isFile = Self.kind(of: descriptor) == S_IFREG
  }

  /// Writes `text`, and calls `then` when all of it has been written. Only one write may run at a time.
  func write(_ text: [UInt8], then: @escaping () -> Void) {
    precondition(whenWritten == nil, "Output.write: wait until the previous write has completed")
    guard !hasEnded else {
      if completesUnwritten { then() }
      return
    }
    waiting = text[...]
    whenWritten = then
    drain()
  }

  /// Drops unwritten text, and writes nothing more. Writes don't complete.
  func stop() {
    hasEnded = true
    completesUnwritten = false
    waiting = []
    whenWritten = nil
    pipe?.stopWaiting()
  }

  /// Lets a command complete its work even if its output can't be written or nobody reads it.
  ///
  /// After `patience`, a write that would have to wait for the reader drops its text and completes. If writing is or
  /// becomes impossible, each write completes.
  func stopWaiting(after patience: Duration) {
    completesUnwritten = true
    loop.schedule(after: loop.now.advanced(by: patience)) { [self] in
      dropsUnread = true
      if pipe?.stopWaiting() == true { drainLater() }
    }
  }

  private func drain() {
    if isFile, waiting.count > Self.page { return drainAside() }
    var written = 0
    while !hasEnded, !waiting.isEmpty {
      // Let other work of the loop run, even if the reader is fast.
      guard written < Self.bytesAtOnce else {
        loop.schedule { [self] in drain() }
        return
      }
      switch pipe.map({ Self.write(waiting.prefix(Self.pipeful), to: $0.descriptor) }) ?? writePage() {
      case .success(let count):
        waiting = waiting.dropFirst(count)
        written += count
      case .failure(.full): return drainLater()
      case .failure(.error(let code)): return end(code)
      }
    }
    finish()
  }

  private func writePage() -> Result<Int, Refusal> {
    Self.hasRoom(descriptor) ? Self.write(waiting.prefix(Self.page), to: descriptor) : .failure(.full)
  }

  /// Continues when the descriptor is writable again.
  private func drainLater() {
    if dropsUnread {
      // After a part of a line, other text would be appended to that part.
      if waiting.startIndex > 0 { hasEnded = true }
      waiting = []
      finish()
    } else if let pipe {
      pipe.wait { [self] in $0 ? end(.closed) : drain() }
    } else {
      loop.schedule(after: loop.now.advanced(by: .milliseconds(10))) { [self] in drain() }
    }
  }

  /// Writes to a file on the thread pool, because a file is always writable, but the disk may be slow.
  private func drainAside() {
    let piece = waiting.prefix(Self.bytesAtOnce)
    worker.perform { [descriptor] in
      Self.write(piece, to: descriptor)
    } completion: { [self] (result: Result<Result<Int, Refusal>, Never>) in
      guard !hasEnded else { return }
      switch result.get() {
      case .success(let count):
        waiting = waiting.dropFirst(count)
        waiting.isEmpty ? finish() : drainAside()
      case .failure(.full): drainLater()
      case .failure(.error(let code)): end(code)
      }
    }
  }

  private func finish() {
    let then = whenWritten
    whenWritten = nil
    then?()
  }

  private func end(_ code: Int32) { end(code == EPIPE || code == EBADF ? .closed : .failed(code)) }

  private func end(_ end: End) {
    guard !hasEnded else { return }
    hasEnded = true
    waiting = []
    pipe?.stopWaiting()
    onEnd(end)
    // `onEnd` decides whether the command completes its work.
    if completesUnwritten { finish() } else { whenWritten = nil }
  }

  private enum Refusal: Error {
    case full
    /// The system's error number.
    case error(Int32)
  }

  /// - Returns: the number of bytes written.
  private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Result<Int, Refusal> {
    while true {
      let count = bytes.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 { return .success(count) }
      if errno == EAGAIN { return .failure(.full) }
      if errno != EINTR { return .failure(.error(errno)) }
    }
  }
}

extension Output {
  /// The time, in milliseconds, after which a write without a loop gives up on a reader.
  static let patience: Int32 = 500

  /// Writes bytes without a loop. Gives up when there is no room for ``patience``.
  ///
  /// - Returns: false if it gave up. A write that fails counts as written.
  @discardableResult static func put(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      guard hasRoom(descriptor, within: patience) else { return false }
      guard case .success(let count) = write(rest.prefix(page), to: descriptor) else { return true }
      rest = rest.dropFirst(count)
    }
    return true
  }

  /// True if a page can be written, or a write would fail at once.
  static func hasRoom(_ descriptor: Int32, within milliseconds: Int32 = 0) -> Bool {
    var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    var count: Int32
    repeat { count = poll(&state, 1, milliseconds) } while count < 0 && errno == EINTR
    return count > 0
  }

  /// Detects that a pipe's reader is gone, even while nothing is being written.
  ///
  /// - Returns: a cancellable that ends the watch; `nil` if there is nothing to watch.
  func watchReader() -> (any Cancellable)? {
    pipe?.watchReader { [weak self] in self?.end(.closed) }
    return pipe
  }

  static func isPipe(_ descriptor: Int32) -> Bool { kind(of: descriptor) == S_IFIFO }

  private static func kind(of descriptor: Int32) -> mode_t {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
  }
}
