/// A program to run: its arguments, environment, limits and standard streams.
///
///     let frame = Subprocess("ffmpeg", ["-i", "-", "-f", "image2", "-"])
///     File("film.mkv").bytes(on: loop).pipe(through: frame, on: loop)
///       .joined(upTo: 1 << 20)
///       .sink { print($0) } receiveValue: { print($0.count) }
///
/// A `Subprocess` is a value: the program runs once for each subscription to ``output(on:)`` or
/// ``Publisher/pipe(through:on:)``, and for each call to ``start(on:)``. The arguments are not interpreted by a shell.
public struct Subprocess: Hashable, Sendable {
  /// The kind of a program's standard stream.
  public enum Stream: Hashable, Sendable {
    /// A pipe to this process, which reads or writes its other end.
    case pipe
    /// This process's own stream.
    case inherited
    /// An empty input, or an output that is dropped.
    case null
  }

  /// Limits for the program; `nil` and the largest number keep this process's limit. `/bin/sh` sets the limits and then
  /// executes the program: it adds `PWD` to the environment, and may leave out variables whose names aren't
  /// identifiers, such as `my.setting`. If the system can't execute a program that exists and is executable (for
  /// example, because its interpreter is missing), starting succeeds, and `/bin/sh` exits with status 126 or 127.
  public struct Limits: Hashable, Sendable {
    /// The CPU time, in seconds, after which `SIGXCPU` ends the program; `SIGKILL` follows a second later.
    public var processorSeconds: Int?
    /// The maximum address space, in bytes; the program can't allocate more.
    public var memoryBytes: Int?
    /// The maximum size of a file that the program writes, in bytes, rounded up to a multiple of 512. A program that
    /// exceeds it is ended by `SIGXFSZ`.
    public var fileBytes: Int?
    /// The maximum number of open file descriptors.
    public var openFiles: Int?

    public init(processorSeconds: Int? = nil, memoryBytes: Int? = nil, fileBytes: Int? = nil, openFiles: Int? = nil) {
      self.processorSeconds = processorSeconds
      self.memoryBytes = memoryBytes
      self.fileBytes = fileBytes
      self.openFiles = openFiles
    }
  }

  /// The program's path, or its name, which is looked up in this process's `PATH`.
  public var program: String
  public var arguments: [String]
  /// The program's environment: this process's by default.
  public var environment: Environment
  /// The program's working directory; this process's if `nil`.
  public var folder: String?
  public var limits = Limits()
  public var standardInput = Stream.null
  public var standardOutput = Stream.pipe
  public var standardErrors = Stream.inherited
  /// The time between `SIGTERM` and `SIGKILL` on cancellation; five seconds by default.
  public var grace: StreamInstant.Stride = .seconds(5)
  /// True to run the program in its own session, without this process's terminal. When the program ends, the programs
  /// that it has started are also ended: `SIGTERM`, and `SIGKILL` after ``grace``; the loop keeps running until then.
  /// Ctrl-C in the terminal does not reach the program.
  public var endsDescendants = false
  /// The number of bytes that the program shares with this process; see ``RunningSubprocess/sharedMemory``.
  package var sharedBytes = 0
  /// True to let the program's descendants continue if it exits on its own; works only with ``endsDescendants``.
  public var leavesDescendants = false

  public init(
    _ program: String, _ arguments: [String] = [], environment: Environment = .inherited, folder: String? = nil
  ) {
    self.program = program
    self.arguments = arguments
    self.environment = environment
    self.folder = folder
  }
}

extension Subprocess {
  /// Names a program that has no name in messages.
  static let withoutName = "a program without a name"

  /// A program's environment variables.
  public struct Environment: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    package var inherits: Bool
    /// The changes to the variables; `nil` removes a variable.
    package var changes: [String: String?]

    /// This process's variables.
    public static let inherited = Environment(inherits: true, changes: [:])
    /// No variables, so that no secret of this process reaches the program.
    public static let clean = Environment(inherits: false, changes: [:])

    private init(inherits: Bool, changes: [String: String?]) {
      self.inherits = inherits
      self.changes = changes
    }

    /// Makes an environment with only these variables.
    public init(dictionaryLiteral variables: (String, String)...) {
      self.init(inherits: false, changes: Dictionary(variables.map { ($0, $1) }) { $1 })
    }

    /// The same variables, with `name` set.
    public func setting(_ name: String, to value: String) -> Environment {
      var other = self
      other.changes[name] = .some(value)
      return other
    }

    /// The same variables, without `name`.
    public func removing(_ name: String) -> Environment {
      var other = self
      other.changes[name] = .some(nil)
      return other
    }
  }
}

/// The status with which a program ended.
public enum ExitStatus: Hashable, Sendable, CustomStringConvertible {
  /// The program exited with a status; 0 means success.
  case exited(Int32)
  /// A signal, such as `SIGKILL`, ended the program.
  case signaled(Int32)

  public var isSuccess: Bool { self == .exited(0) }

  public var description: String {
    switch self {
    case .exited(let number): "exited with status \(number)"
    case .signaled(let number): "was killed by signal \(number)"
    }
  }
}

/// The reason why a program failed.
public enum SubprocessError: Error, CustomStringConvertible {
  /// The program could not be started, read from or written to.
  case system(SystemError)
  /// The program ended with this status. `errors` is the last part of its standard error, if that is a pipe.
  case ended(program: String, ExitStatus, errors: String)
  /// Upstream, the program's input, failed.
  case input(any Error)

  public var description: String {
    switch self {
    case .system(let error): "\(error)\(adviceOnArguments)"
    case .ended(let program, let status, ""): "\(program) \(status)"
    case .ended(let program, let status, let errors): "\(program) \(status): \(errors)"
    case .input(let error): "\(error)"
    }
  }

  /// Advice for a missing program whose name contains its arguments; otherwise empty.
  private var adviceOnArguments: String {
    guard case .system(let error) = self, error.operation == "start", error.name == "ENOENT" else { return "" }
    let words = error.subject.split(separator: " ").map { String($0) }
    guard words.count > 1, error.subject != Subprocess.withoutName else { return "" }
    return """
      ; if this is a program and its arguments, pass them separately: \
      Subprocess(\(words[0].debugDescription), \(Array(words.dropFirst())))
      """
  }
}
