internal import CLibUV
import CLibrary

/// A program, its arguments, its environment and its folder, as `uv_spawn` needs them.
struct SpawnCommand {
  private let file: String
  private let arguments: [String]
  /// The variables as null-terminated bytes, which needn't be UTF-8.
  private let environment: [[CChar]]?
  private let folder: String?

  init(_ subprocess: Subprocess) throws(SystemError) {
    try subprocess.checkTexts()
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
      // Limits must be set before the program starts: a shell sets them and then executes the program. If it can't, it
      // only exits with a status, so first check for the usual reasons.
      let shell = "/bin/sh"
      let isAbsolute = file.utf8.first == UInt8(ascii: "/")
      let place = isAbsolute ? file : (folder ?? ".") + "/" + file
      var status = stat()
      guard stat(place, &status) == 0, access(place, X_OK) == 0 else {
        throw SystemError("start", subprocess.program, code: errno)
      }
      guard status.st_mode & S_IFMT == S_IFREG else { throw SystemError("start", subprocess.program, code: EACCES) }
      guard access(shell, X_OK) == 0 else {
        throw SystemError("set the limits of \(subprocess.program) with", shell, code: errno)
      }
      self.file = shell
      arguments = ["sh", "-c", "\(limits.joined(separator: " && ")) && exec \"$@\"", "sh", file] + subprocess.arguments
    }
  }

  /// The path of a program.
  private static func find(_ program: String) throws(SystemError) -> String {
    guard !program.isEmpty else { throw SystemError("start", Subprocess.withoutName, code: ENOENT) }
    if program.utf8.contains(UInt8(ascii: "/")) { return program }
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
    var variables = (environment ?? []).map { $0.withUnsafeBufferPointer { strdup($0.baseAddress!) } } + [nil]
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

extension Subprocess {
  /// Fails if the system would end a text at a null byte, or would misread the name of a variable.
  package func checkTexts() throws(SystemError) {
    let texts = [program, folder ?? ""] + arguments
    if texts.contains(where: { $0.utf8.contains(0) }) { throw SystemError("start", program, code: EINVAL) }
    for (name, value) in environment.changes
    where name.isEmpty || (name + (value ?? "")).utf8.contains(0) || name.utf8.contains(UInt8(ascii: "=")) {
      throw SystemError("set the variable \(name.debugDescription) for", program, code: EINVAL)
    }
  }
}

extension Subprocess.Environment {
  /// The variables as `name=value` with a null at the end; `nil` for this process's environment, unchanged.
  fileprivate func variables(for program: String) throws(SystemError) -> [[CChar]]? {
    if inherits, changes.isEmpty { return nil }
    func bytes(_ text: UnsafePointer<CChar>) -> [CChar] { Array(UnsafeBufferPointer(start: text, count: strlen(text))) }
    var variables: [[CChar]: [CChar]] = [:]
    if inherits {
      var items: UnsafeMutablePointer<uv_env_item_t>?
      var count: Int32 = 0
      let code = uv_os_environ(&items, &count)
      guard code == 0 else { throw SystemError("read the environment for", program, code: code) }
      for index in 0..<Int(count) {
        variables[bytes(items![index].name)] = bytes(items![index].value)
      }
      uv_os_free_environ(items, count)
    }
    for (name, value) in changes { variables[bytes(name)] = value.map { bytes($0) } }
    let equals = [CChar(bitPattern: UInt8(ascii: "="))]
    return variables.map { $0 + equals + $1 + [0] }.sorted { $0.lexicographicallyPrecedes($1) }
  }
}

extension Subprocess.Limits {
  /// The limits as shell commands.
  fileprivate var commands: [String] {
    // The largest number means no limit, and is more than a shell accepts.
    func limit(_ number: Int?, _ command: (Int) -> String) -> String? {
      number.flatMap { $0 == .max ? nil : command($0) }
    }
    return [
      limit(processorSeconds) { "ulimit -S -t \($0) && ulimit -H -t \($0 + 1)" },
      limit(memoryBytes) { "ulimit -v \(Swift.max($0 / 1024, 1))" },
      limit(fileBytes) { "ulimit -f \($0 / 512 + ($0 % 512 > 0 ? 1 : 0))" }, limit(openFiles) { "ulimit -n \($0)" },
    ].compactMap { $0 }
  }
}
