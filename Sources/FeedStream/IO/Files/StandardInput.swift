internal import CLibUV

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// What the process is given on its standard input.
public enum StandardInput {
  /// The bytes, whether they come from a terminal, a pipe, a socket or a file; none when there is no standard input.
  ///
  ///     StandardInput.bytes(on: loop).lines().sink { print($0) } receiveValue: { print($0) }
  ///
  /// What other processes share of it is left as it is: it is not made non-blocking for them.
  ///
  /// **Demand:** a chunk asked for is a read; without demand nothing is read. **Failure:** the system's reason.
  /// **Cancellation:** stops reading. **Policy:** holds nothing. One subscriber at a time: each gets what the others
  /// have not read.
  public static func bytes(on loop: EventLoop) -> AnyPublisher<Chunk, SystemError> {
    Deferred { () -> AnyPublisher<Chunk, SystemError> in
      switch uv_guess_handle(STDIN_FILENO) {
      case UV_NAMED_PIPE, UV_TTY, UV_TCP: connection(on: loop)
      default: fileBytes(on: loop)
      }
    }
    .eraseToAnyPublisher()
  }

  /// A file, a device, or nothing: epoll refuses these, and the pool reads them.
  private static func fileBytes(on loop: EventLoop) -> AnyPublisher<Chunk, SystemError> {
    // Closed when the program began, its number may be the event loop's by now, which is no file of any kind.
    var status = stat()
    guard fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT != 0 else { return Empty().eraseToAnyPublisher() }
    return Publishers.FileBytes(
      source: .descriptor(STDIN_FILENO, name: "standard input"), offset: nil, chunkSize: 256 * 1024, scheduler: loop
    ).eraseToAnyPublisher()
  }

  private static func connection(on loop: EventLoop) -> AnyPublisher<Chunk, SystemError> {
    let name = SocketAddress.unix("standard input")
    do throws(SystemError) {
      let channel = try LoopChannel(on: loop, to: name, uv_pipe_t.self) { uv_pipe_init($0, $1, 0) }
      // Opened anew where the system can: non-blocking is then ours alone, and not every process's that has this input.
      var descriptor = open("/proc/self/fd/\(STDIN_FILENO)", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      if descriptor < 0 { descriptor = dup(STDIN_FILENO) }
      let code = descriptor < 0 ? -errno : uv_pipe_open(channel.raw(as: uv_pipe_t.self), descriptor)
      guard code == 0 else {
        channel.close()
        throw SystemError("read from", "standard input", code: code)
      }
      return Connection(channel, to: name).bytes.eraseToAnyPublisher()
    } catch {
      return Fail(error: error).eraseToAnyPublisher()
    }
  }
}
