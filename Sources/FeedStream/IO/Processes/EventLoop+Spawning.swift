internal import CLibUV

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A program that runs beside an event loop: libuv's `uv_process_t`. It keeps itself until the program has ended.
final class LoopProcess: LoopHandle, ChildProcess {
  package private(set) var number: Int32 = 0
  package private(set) var input: (any ByteChannel)?
  package private(set) var output: (any ByteChannel)?
  package private(set) var errors: (any ByteChannel)?
  package var onExit: ((ExitStatus) -> Void)?
  /// True when it and what it starts are a group.
  private let group: Bool
  /// Balances a retain: there while the program runs.
  private var keeper: Unmanaged<LoopProcess>?

  init(_ subprocess: Subprocess, on loop: EventLoop) throws(SystemError) {
    let command = try SpawnCommand(subprocess)
    var pipes: [Pipe?] = []
    // The program has its own copies by then.
    defer { for pipe in pipes { pipe?.close() } }
    let streams = [subprocess.standardInput, subprocess.standardOutput, subprocess.standardErrors]
    for (index, stream) in streams.enumerated() {
      pipes.append(stream == .pipe ? try Pipe(isInput: index == 0, for: subprocess.program) : nil)
    }
    let none = streams.contains(.null) ? System.open("/dev/null", O_RDWR) : -1
    defer { if none >= 0 { System.close(none) } }
    let descriptors = zip(streams.indices, streams).map { index, stream in
      switch stream {
      case .pipe: pipes[index]!.theirs
      case .inherited: Int32(index)
      case .null: none
      }
    }
    group = subprocess.endsDescendants
    System.closeOnSpawn()
    var code: Int32 = 0
    do {
      try super.init(on: loop, as: .openHandle, uv_process_t.self) { uv, raw in
        // Initialized whether it succeeds or not, and then has to be closed.
        code = command.spawn(uv, raw, descriptors, endsDescendants: subprocess.endsDescendants) { raw, status, signal in
          LoopProcess.of(raw).hasEnded(signal == 0 ? .exited(Int32(status)) : .signaled(signal))
        }
        return 0
      }
    } catch {
      throw SystemError("start", subprocess.program, code: error.errno)
    }
    guard code == 0 else { throw SystemError("start", subprocess.program, code: code) }
    number = UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_process_t.self).pointee.pid
    keeper = .passRetained(self)
    input = try channel(pipes[0], subprocess)
    output = try channel(pipes[1], subprocess)
    errors = try channel(pipes[2], subprocess)
  }

  /// Our end of a pipe. A program whose pipe cannot be used is ended.
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

  private func hasEnded(_ status: ExitStatus) {
    let (keeper, onExit) = (keeper.take(), onExit.take())
    // What it left behind has no one to end it any more.
    if group { kill(-number, SIGTERM) }
    close()
    onExit?(status)
    keeper?.release()
  }

  /// Closed with its loop while the program runs: it is ended and cleaned up after now.
  override func releaseHandler() {
    onExit = nil
    guard let keeper = keeper.take() else { return }
    kill(group ? -number : number, SIGKILL)
    while waitpid(number, nil, 0) < 0, errno == EINTR {}
    keeper.release()
  }
}

/// A pipe, of which one end is the program's.
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
  /// The stream of a descriptor, which is closed with it.
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

/// A program, its arguments and its environment, as `uv_spawn` takes them.
private struct SpawnCommand {
  private let file: String
  private let arguments: [String]
  private let environment: [String]?
  private let folder: String?

  init(_ subprocess: Subprocess) throws(SystemError) {
    let texts = [subprocess.program, subprocess.folder ?? ""] + subprocess.arguments
    // The system would end the text there.
    if texts.contains(where: { $0.utf8.contains(0) }) { throw SystemError("start", subprocess.program, code: EINVAL) }
    let file = try Self.find(subprocess.program)
    if let folder = subprocess.folder {
      var status = stat()
      guard stat(folder, &status) == 0 else { throw SystemError("start \(subprocess.program) in", folder, code: errno) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw SystemError("start \(subprocess.program) in", folder, code: ENOTDIR)
      }
    }
    folder = subprocess.folder
    environment = try subprocess.environment.variables(for: subprocess.program)
    let limits = subprocess.limits.commands
    if limits.isEmpty {
      self.file = file
      arguments = [subprocess.program] + subprocess.arguments
    } else {
      // A shell sets them before it becomes the program: afterwards would be too late.
      self.file = "/bin/sh"
      arguments = ["sh", "-c", "\(limits.joined(separator: " && ")) && exec \"$@\"", "sh", file] + subprocess.arguments
    }
  }

  /// The path of a program.
  private static func find(_ program: String) throws(SystemError) -> String {
    guard !program.isEmpty else { throw SystemError("start", "a program without a name", code: ENOENT) }
    if program.contains("/") { return program }
    var code = ENOENT
    let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    for folder in path.split(separator: ":", omittingEmptySubsequences: false) {
      let file = (folder.isEmpty ? "." : folder) + "/" + program
      var status = stat()
      guard stat(String(file), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      if access(String(file), X_OK) == 0 { return String(file) }
      code = EACCES
    }
    throw SystemError("start", program, code: code)
  }

  func spawn(
    _ loop: UnsafeMutablePointer<uv_loop_t>, _ raw: UnsafeMutablePointer<uv_process_t>, _ descriptors: [Int32],
    endsDescendants: Bool, _ callBack: @escaping uv_exit_cb
  ) -> Int32 {
    var arguments = self.arguments.map { strdup($0) } + [nil]
    var variables = (environment ?? []).map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var streams = descriptors.map { descriptor in
      var stream = uv_stdio_container_t()
      stream.flags = UV_INHERIT_FD
      stream.data.fd = descriptor
      return stream
    }
    return file.withCString { file in
      arguments.withUnsafeMutableBufferPointer { arguments in
        variables.withUnsafeMutableBufferPointer { variables in
          streams.withUnsafeMutableBufferPointer { streams in
            var options = uv_process_options_t()
            options.exit_cb = callBack
            options.file = file
            options.args = arguments.baseAddress
            options.env = environment == nil ? nil : variables.baseAddress
            options.stdio_count = Int32(streams.count)
            options.stdio = streams.baseAddress
            if endsDescendants { options.flags = UV_PROCESS_DETACHED.rawValue }
            guard let folder else { return uv_spawn(loop, raw, &options) }
            return folder.withCString {
              options.cwd = $0
              return uv_spawn(loop, raw, &options)
            }
          }
        }
      }
    }
  }
}

extension Subprocess.Environment {
  /// As `name=value`; `nil` for this process's, unchanged.
  fileprivate func variables(for program: String) throws(SystemError) -> [String]? {
    if inherits, changes.isEmpty { return nil }
    for (name, value) in changes where name.isEmpty || (name + (value ?? "")).contains("\0") || name.contains("=") {
      throw SystemError("set the variable \(name.debugDescription) for", program, code: EINVAL)
    }
    var variables: [String: String] = [:]
    if inherits {
      var items: UnsafeMutablePointer<uv_env_item_t>?
      var count: Int32 = 0
      let code = uv_os_environ(&items, &count)
      guard code == 0 else { throw SystemError("read the environment for", program, code: code) }
      for index in 0..<Int(count) {
        variables[String(cString: items![index].name)] = String(cString: items![index].value)
      }
      uv_os_free_environ(items, count)
    }
    for (name, value) in changes { variables[name] = value }
    return variables.map { "\($0)=\($1)" }.sorted()
  }
}

extension Subprocess.Limits {
  /// As commands of a shell.
  fileprivate var commands: [String] {
    [
      processorSeconds.map { "ulimit -S -t \($0) && ulimit -H -t \($0 + 1)" },
      memoryBytes.map { "ulimit -v \(Swift.max($0 / 1024, 1))" },
      fileBytes.map { "ulimit -f \(($0 + 511) / 512)" }, openFiles.map { "ulimit -n \($0)" },
    ].compactMap { $0 }
  }
}

extension System {
  /// Marks every descriptor but the standard streams so that programs started from now on do not get it: libraries may have
  /// opened some without.
  fileprivate static func closeOnSpawn() {
    if clibuv_close_on_spawn() == 0 { return }
    for descriptor in 3..<Int32(clamping: sysconf(Int32(_SC_OPEN_MAX))) {
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0, flags & FD_CLOEXEC == 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }
}
