import Foundation
import Synchronization

/// A running program, `feed` by default, to read from and to send signals to.
///
/// Started by hand: Foundation's `Process` on Linux sometimes misses the end of one when several run simultaneously.
package final class RunningFeed: Sendable {
  package let output: Lines
  package let errors: Lines
  package let process: pid_t
  private let ended: Task<Int32, Never>

  /// - Parameters:
  ///   - terminal: true when both outputs are one terminal; `output` then has what is written to either.
  ///   - readsOutput: true when its output is read; otherwise the pipe fills up.
  ///   - errorsAreFull: true when its standard error is full and nobody reads it.
  ///   - patience: the seconds after which it is killed, so that its test fails.
  package init(
    program: String = FeedBinary.path, _ arguments: [String], environment: [String: String] = [:],
    terminal: Bool = false, readsOutput: Bool = true, errorsAreFull: Bool = false, patience: Int = 60
  ) throws {
    // One at a time, so that no child inherits another's pipes before they are marked.
    let (process, output, errors) = try Self.spawning.withLock { _ in
      let output = try terminal ? Channel.terminal() : Channel.pipe()
      let errors = try Channel.pipe()
      if errorsAreFull { Self.fill(errors.writing) }
      let process = try Self.spawn(
        [program] + arguments, environment: FeedBinary.environment(environment),
        output: output.writing, errors: terminal ? output.writing : errors.writing)
      close(output.writing)
      close(errors.writing)
      return (process, output, errors)
    }
    self.output = Lines(output.reading, starts: readsOutput)
    self.errors = Lines(errors.reading, starts: !errorsAreFull)
    self.process = process
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    Thread.detachNewThread {
      var (status, patience): (Int32, Int) = (0, patience * 100)
      while waitpid(process, &status, WNOHANG) == 0 {
        patience -= 1
        if patience == 0 { kill(process, SIGKILL) }
        usleep(10_000)
      }
      // As a shell shows it; wait(2)'s macros are not available in Swift.
      let signal = status & 0x7F
      continuation.yield(signal == 0 ? status >> 8 & 0xFF : 128 + signal)
      continuation.finish()
    }
    ended = Task {
      for await status in stream { return status }
      return -1
    }
  }

  package func send(_ signal: Int32) { kill(process, signal) }

  /// Waits for its exit status.
  package func status() async -> Int32 { await ended.value }

  /// Waits for its end.
  package func ending() async -> FeedBinary.Ending {
    async let output = output.rest()
    async let errors = errors.rest()
    return await FeedBinary.Ending(status: status(), output: output, errors: errors)
  }

  private static let spawning = Mutex(())

  private static func fill(_ descriptor: Int32) {
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    while write(descriptor, "x", 1) == 1 {}
    _ = fcntl(descriptor, F_SETFL, flags)
  }

  private static func spawn(
    _ arguments: [String], environment: [String: String], output: Int32, errors: Int32
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_adddup2(&actions, errors, 2)
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
    let words = (arguments.map { strdup($0) }) + [nil]
    let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    let code = posix_spawn(&process, arguments[0], &actions, &attributes, words, variables)
    guard code == 0 else { throw POSIXError(.init(rawValue: code) ?? .EIO) }
    return process
  }
}

/// Two connected descriptors that no other child inherits.
private struct Channel {
  let reading: Int32
  let writing: Int32

  static func pipe() throws -> Channel {
    var ends: [Int32] = [-1, -1]
    guard Foundation.pipe(&ends) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return Channel(reading: ends[0], writing: ends[1])
  }

  /// A terminal; reading from it reads its screen.
  static func terminal() throws -> Channel {
    var (screen, program): (Int32, Int32) = (-1, -1)
    guard openpty(&screen, &program, nil, nil, nil) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    for descriptor in [screen, program] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return Channel(reading: screen, writing: program)
  }
}
