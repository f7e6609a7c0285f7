internal import CLibUV
import CLibrary

/// The process's standard input.
public enum StandardInput {
  /// The bytes of the standard input, which may be a terminal, a pipe, a socket or a file. Finishes without bytes if
  /// there is no standard input.
  ///
  ///     StandardInput.bytes(on: loop).lines().sink { print($0) } receiveValue: { print($0) }
  ///
  /// The input doesn't become non-blocking for other processes that share it, unless the system can't reopen it: a
  /// socket, or without `/proc`, or another user's terminal or pipe (after `sudo -u`, for example).
  ///
  /// **Demand:** each requested chunk is one read; without demand, nothing is read. **Failure:** the system's error.
  /// **Cancellation:** stops reading. **Policy:** holds nothing. Use one subscriber at a time: each receives the bytes
  /// that earlier ones have not read.
  ///
  /// - Parameter scheduler: an ``EventLoop``, or virtual time in a test.
  public static func bytes(on scheduler: any LoopScheduler) -> AnyPublisher<Chunk, SystemError> {
    Deferred { () -> AnyPublisher<Chunk, SystemError> in
      do throws(SystemError) {
        switch try scheduler.world("StandardInput").standardStream(0) {
        case .channel(let channel): return Connection(channel, to: channel.peer).bytes.eraseToAnyPublisher()
        case .descriptor(let number):
          return Publishers.FileBytes(
            source: .descriptor(number, name: "standard input"), offset: nil, chunkSize: 256 * 1024,
            scheduler: scheduler
          ).eraseToAnyPublisher()
        case .nothing: return Empty().eraseToAnyPublisher()
        }
      } catch {
        return Fail(error: error).eraseToAnyPublisher()
      }
    }
    .eraseToAnyPublisher()
  }
}

/// A standard stream to which the process can write.
public enum StandardStream: Int32, Hashable, Sendable {
  /// Standard output.
  case output = 1
  /// Standard error.
  case errors = 2

  fileprivate var name: String { self == .output ? "standard output" : "standard error" }
}

extension Publisher where Output == Chunk {
  /// Writes the bytes to the process's standard output or error, and finishes when the system has accepted all of them.
  ///
  ///     StandardInput.bytes(on: loop).write(to: .output, on: loop)
  ///       .sink { print($0) } receiveValue: { _ in }
  ///
  ///     upstream                    --ab--cd--|
  ///     write(to: .output, on: loop)
  ///     downstream                  -----------|
  ///
  /// The stream may be a terminal, a pipe, a socket or a file, and stays open. Like ``StandardInput/bytes(on:)``, the
  /// write may make a stream that can't be reopened non-blocking for the other processes that share it. If its reader
  /// has closed it, the write fails with `EPIPE`, and the process continues.
  ///
  /// **Demand, failure:** as in ``Publisher/write(to:limit:atEnd:)``. **Cancellation:** cancels upstream and drops
  /// waiting bytes. In a file, a write that is already running completes. In a terminal, a pipe or a socket, only the
  /// bytes arrive that the system has already accepted, perhaps a part of a line: a reader that has stalled doesn't
  /// keep the loop running. **Policy:** holds `limit` bytes and one chunk.
  ///
  /// - Parameters:
  ///   - stream: standard output or standard error.
  ///   - limit: the maximum number of bytes that wait; 256 KiB by default.
  ///   - scheduler: an ``EventLoop``, or virtual time in a test.
  public func write(
    to stream: StandardStream, limit: Int = 256 * 1024, on scheduler: any LoopScheduler
  ) -> Publishers.Write<Self> {
    Publishers.Write(upstream: self, limit: limit) { () throws(SystemError) in
      switch try scheduler.world("StandardStream").standardStream(stream.rawValue) {
      case .channel(let channel): return WriteTarget(channel, endsWriting: false) { _ in channel.close() }
      case .descriptor(let number):
        let file = SystemFile(number, name: stream.name, isOwned: false)
        return WriteTarget(OffloadedSink(on: scheduler, write: { file.write($0) }), endsWriting: false)
      case .nothing: throw SystemError("write to", stream.name, code: Errno.closed)
      }
    }
  }
}

extension EventLoop {
  package func standardStream(_ number: Int32) throws(SystemError) -> StandardChannel {
    let name = ["standard input", "standard output", "standard error"][Int(number)]
    switch uv_guess_handle(number) {
    case UV_NAMED_PIPE, UV_TTY, UV_TCP: break
    default:
      // If the stream was closed when the program began, the event loop may now use the stream's number for a
      // descriptor that isn't any kind of file.
      guard let status = System.status(number), status.st_mode & S_IFMT != 0 else { return .nothing }
      return .descriptor(number)
    }
    // If the stream is open for the wrong direction, don't reopen it: that would hide the error.
    let mode = fcntl(number, F_GETFL) & O_ACCMODE
    guard mode == O_RDWR || mode == (number == 0 ? O_RDONLY : O_WRONLY) else { return .descriptor(number) }
    // Reopen the stream if possible: it is then non-blocking only for this process, not for the others that share it.
    var descriptor = System.open("/proc/self/fd/\(number)", (number == 0 ? O_RDONLY : O_WRONLY) | O_NONBLOCK)
    if descriptor < 0 { descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3) }
    guard descriptor >= 0 else { throw SystemError("open", name, code: errno) }
    // If all writers closed a named pipe before it was reopened, the system doesn't announce its end. Reading it
    // doesn't block, so read it as a file.
    if number == 0, System.hasNoWriters(number) {
      System.close(descriptor)
      return .descriptor(number)
    }
    return .channel(try LoopChannel(on: self, to: .unix(name), opening: descriptor))
  }
}
