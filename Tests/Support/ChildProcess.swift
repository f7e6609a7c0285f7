import Foundation
import Synchronization

/// A process that a test starts and waits for.
///
/// Foundation's `Process` on Linux sometimes misses the end of a process when several run simultaneously, and then
/// waits forever.
package final class ChildProcess: Sendable {
  package enum Ending: Equatable, Sendable {
    case exited(Int32)
    case signaled(Int32)

    /// The exit status that a shell shows.
    package var status: Int32 {
      switch self {
      case .exited(let status): status
      case .signaled(let signal): 128 + signal
      }
    }
  }

  /// The kinds of a standard stream of the child.
  package enum Stream: Sendable {
    case null
    /// The test has the other end, and closes it.
    case pipe
    case inherited
    /// A descriptor that is closed here once the child has it.
    case descriptor(Int32)
  }

  package let identifier: pid_t
  /// The other ends of pipes; -1 for other streams.
  package let input: Int32
  package let output: Int32
  package let errors: Int32
  private let ending = Mutex<Ending?>(nil)

  /// - Parameters:
  ///   - program: the path of a program.
  ///   - environment: the whole environment; this process's own by default.
  ///   - errors: standard error, or the same stream as standard output when nil.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    input: Stream = .null, output: Stream = .null, errors: Stream? = .null
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var (theirs, ours): ([Int32], [Int32]) = ([], [])
    func fail(_ code: Int32) -> POSIXError {
      for end in theirs + ours where end >= 0 { close(end) }
      return POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
    }
    for (number, stream) in [(0 as Int32, input), (1, output), (2, errors ?? .inherited)] {
      var end: Int32 = -1
      switch stream {
      case .null: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
      case .inherited: break
      case .descriptor(let descriptor):
        theirs.append(descriptor)
        posix_spawn_file_actions_adddup2(&actions, descriptor, number)
      case .pipe:
        let channel = try Channel.pipe()
        theirs.append(number == 0 ? channel.reading : channel.writing)
        end = number == 0 ? channel.writing : channel.reading
        posix_spawn_file_actions_adddup2(&actions, theirs.last!, number)
      }
      ours.append(end)
    }
    if errors == nil { posix_spawn_file_actions_adddup2(&actions, 1, 2) }
    // Not every socket of the tests is marked to be closed; a child that inherits one would keep a stopped server
    // listening.
    for descriptor in 3..<1024 as Range<Int32> { posix_spawn_file_actions_addclose(&actions, descriptor) }
    // Threads of a pool may have signals blocked, which a child would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let words = ([program] + arguments).map { strdup($0) } + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var identifier = pid_t()
    let code = posix_spawn(&identifier, program, &actions, &attributes, words, variables)
    guard code == 0 else { throw fail(code) }
    for end in theirs { close(end) }
    self.identifier = identifier
    (self.input, self.output, self.errors) = (ours[0], ours[1], ours[2])
  }

  /// Runs a program to its end, and returns all that it wrote to standard output.
  package static func run(
    _ program: String, _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment,
    errors: Stream? = .null
  ) throws -> (ending: Ending, output: Data) {
    let child = try ChildProcess(program, arguments, environment: environment, output: .pipe, errors: errors)
    let output = child.readOutput()
    return (child.wait(), output)
  }

  /// Runs a line of shell script on a separate thread, and returns its output.
  package static func shell(_ script: String) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        let result = Result { try run("/bin/sh", ["-c", script], errors: .inherited).output }
        continuation.resume(with: result.map { String(decoding: $0, as: UTF8.self) })
      }
    }
  }

  /// Reads standard output to its end, and closes it.
  package func readOutput() -> Data {
    let file = FileHandle(fileDescriptor: output, closeOnDealloc: true)
    return (try? file.readToEnd()) ?? Data()
  }

  /// The exit status; `nil` while the process runs.
  package var endingNow: Ending? {
    ending.withLock { ending in
      var status: Int32 = 0
      // Reap it only once, because afterwards another process may have its number.
      if ending == nil, waitpid(identifier, &status, WNOHANG) == identifier { ending = Self.ending(status) }
      return ending
    }
  }

  /// Waits until it has ended.
  @discardableResult package func wait() -> Ending {
    while true {
      if let ending = endingNow { return ending }
      var information = siginfo_t()
      // Waits without reaping; the first call that reads the status does that.
      _ = waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT)
    }
  }

  /// Sends it a signal, unless it has ended.
  package func send(_ signal: Int32) {
    ending.withLock { if $0 == nil { _ = kill(identifier, signal) } }
  }

  /// Reads what wait(2) reports; its macros are not available in Swift.
  private static func ending(_ status: Int32) -> Ending {
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
  }
}
