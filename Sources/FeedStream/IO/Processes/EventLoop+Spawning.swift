internal import CLibUV
import CLibrary

/// A child process of an event loop: libuv's `uv_process_t`. It retains itself until the program has ended.
final class LoopProcess: LoopHandle, ChildProcess {
  package private(set) var number: Int32 = 0
  package private(set) var input: (any ByteChannel)?
  package private(set) var output: (any ByteChannel)?
  package private(set) var errors: (any ByteChannel)?
  package let sharedMemory: SharedMemory?
  package var onExit: ((ExitStatus) -> Void)?
  /// True if the program and its child processes form a process group.
  private let group: Bool
  /// Retains this object while the program runs.
  private var keeper: Unmanaged<LoopProcess>?

  init(_ subprocess: Subprocess, on loop: EventLoop) throws(SystemError) {
    let command = try SpawnCommand(subprocess)
    var pipes: [Pipe?] = []
    // When this code runs, the program has its own copies of the pipes' ends.
    defer { for pipe in pipes { pipe?.close() } }
    let streams = [subprocess.standardInput, subprocess.standardOutput, subprocess.standardErrors]
    for (index, stream) in streams.enumerated() {
      pipes.append(stream == .pipe ? try Pipe(isInput: index == 0, for: subprocess.program) : nil)
    }
    let none = streams.contains(.null) ? System.open("/dev/null", O_RDWR) : -1
    guard none >= 0 || !streams.contains(.null) else { throw SystemError("open", "/dev/null", code: errno) }
    defer { if none >= 0 { System.close(none) } }
    var descriptors = zip(streams.indices, streams).map { index, stream in
      switch stream {
      case .pipe: pipes[index]!.theirs
      case .inherited: Int32(index)
      case .null: none
      }
    }
    sharedMemory = SharedMemory(count: subprocess.sharedBytes)
    if let sharedMemory { descriptors.append(sharedMemory.descriptor) }
    group = subprocess.endsDescendants
    System.closeOnSpawn()
    // The process may have inherited the signal of a program's end as blocked.
    unblockSignal(SIGCHLD)
    var code: Int32 = 0
    do {
      try super.init(on: loop, as: .openHandle, uv_process_t.self) { uv, raw in
        // The handle is initialized even if spawning fails, and then has to be closed.
        code = command.spawn(uv, raw, descriptors, endsDescendants: subprocess.endsDescendants) { raw, status, signal in
          LoopProcess.of(raw).hasEnded(signal == 0 ? .exited(Int32(status)) : .signaled(signal))
        }
        return 0
      }
    } catch {
      throw SystemError("start", subprocess.program, code: error.errno)
    }
    guard code == 0 else { throw SystemError("start", subprocess.program, code: code) }
    number = raw(as: uv_process_t.self).pointee.pid
    keeper = .passRetained(self)
    input = try channel(pipes[0], subprocess)
    output = try channel(pipes[1], subprocess)
    errors = try channel(pipes[2], subprocess)
  }

  /// This process's end of a pipe. Kills the program if the pipe can't be used.
  private func channel(_ pipe: Pipe?, _ subprocess: Subprocess) throws(SystemError) -> (any ByteChannel)? {
    guard let pipe else { return nil }
    do throws(SystemError) {
      return try LoopChannel(on: loop, to: .unix(subprocess.program), opening: pipe.takeOurs())
    } catch {
      send(SIGKILL)
      throw error
    }
  }

  package func send(_ signal: Int32) {
    guard !isClosed, keeper != nil else { return }
    kill(group ? -number : number, signal)
  }

  package func signalDescendants(_ signal: Int32) -> Bool {
    guard group else { return false }
    // Descendants whose parents have ended may be children of this process, such as in a container without an init
    // process. Unless they are reaped, they count as members of the group after their end.
    while waitpid(-number, nil, WNOHANG) > 0 {}
    return kill(-number, signal) == 0
  }

  private func hasEnded(_ status: ExitStatus) {
    let (keeper, onExit) = (keeper.take(), onExit.take())
    close()
    onExit?(status)
    keeper?.release()
  }

  /// Kills the program and reaps the process if the loop is closed while the program runs.
  override func releaseHandler() {
    onExit = nil
    guard let keeper = keeper.take() else { return }
    kill(group ? -number : number, SIGKILL)
    while waitpid(number, nil, 0) < 0, errno == EINTR {}
    keeper.release()
  }
}

/// A pipe between this process and the program.
private final class Pipe {
  let theirs: Int32
  private var ours: Int32

  init(isInput: Bool, for program: String) throws(SystemError) {
    var ends: (uv_file, uv_file) = (-1, -1)
    let flags = Int32(UV_NONBLOCK_PIPE.rawValue)
    let code = withUnsafeMutablePointer(to: &ends) {
      $0.withMemoryRebound(to: uv_file.self, capacity: 2) { uv_pipe($0, isInput ? 0 : flags, isInput ? flags : 0) }
    }
    guard code == 0 else { throw SystemError("open a pipe to", program, code: code) }
    (theirs, ours) = isInput ? (ends.0, ends.1) : (ends.1, ends.0)
  }

  func takeOurs() -> Int32 {
    defer { ours = -1 }
    return ours
  }

  func close() {
    System.close(theirs)
    if ours >= 0 { System.close(ours) }
  }
}

extension LoopChannel {
  /// Makes a channel for a descriptor, which is closed together with the channel.
  convenience init(on loop: EventLoop, to name: SocketAddress, opening descriptor: Int32) throws(SystemError) {
    do throws(SystemError) {
      try self.init(on: loop, to: name, uv_pipe_t.self) { uv_pipe_init($0, $1, 0) }
    } catch {
      System.close(descriptor)
      throw error
    }
    let code = uv_pipe_open(raw(as: uv_pipe_t.self), descriptor)
    guard code == 0 else {
      System.close(descriptor)
      throw SystemError("open", "\(name)", code: code)
    }
  }
}

extension System {
  /// Marks every descriptor except the standard streams as close-on-exec, so that programs started later don't inherit
  /// it. Libraries may have opened some descriptors without that flag.
  fileprivate static func closeOnSpawn() { if clibuv_close_on_spawn() != 0 { closeEachOnSpawn() } }

  /// Does the same with a call for each descriptor.
  static func closeEachOnSpawn() {
    // There may be a billion possible numbers, so list those in use, or without `/proc`, try the usual ones.
    let most = Int32(min(UInt(bitPattern: sysconf(Int32(_SC_OPEN_MAX))), 65_536))
    let listed = try? SystemFolder("/proc/self/fd", below: nil).next(.max).compactMap { Int32($0.name) }
    for descriptor in listed ?? Array(0..<most) where descriptor > STDERR_FILENO {
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0, flags & FD_CLOEXEC == 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }
}
