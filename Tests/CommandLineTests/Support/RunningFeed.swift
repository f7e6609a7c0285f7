import Foundation
import Synchronization

/// A `feed` that runs, to be read from and signalled.
final class RunningFeed: Sendable {
  let output: Lines
  let errors: Lines
  private let process = Process()
  private let ended: Task<Int32, Never>

  /// - Parameters:
  ///   - terminal: whether both outputs are one terminal; `output` then has what is written to either.
  ///   - readsOutput: whether its output is read before it is asked for.
  init(
    program: URL = FeedBinary.url, _ arguments: [String], environment: [String: String] = [:], terminal: Bool = false,
    readsOutput: Bool = true
  ) throws {
    process.executableURL = program
    process.arguments = arguments
    process.environment = FeedBinary.environment(environment)
    process.standardInput = FileHandle.nullDevice
    let errors = Pipe()
    if terminal {
      let (screen, program) = try Self.openTerminal()
      process.standardOutput = program
      process.standardError = program
      output = Lines(screen)
      try errors.fileHandleForWriting.close()
    } else {
      let output = Pipe()
      process.standardOutput = output
      process.standardError = errors
      self.output = Lines(output.fileHandleForReading, starts: readsOutput)
    }
    self.errors = Lines(errors.fileHandleForReading)
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    process.terminationHandler = { process in
      // A signal that was not handled, as a shell shows it.
      let code = process.terminationStatus
      continuation.yield(process.terminationReason == .uncaughtSignal ? 128 + code : code)
      continuation.finish()
    }
    ended = Task {
      for await status in stream { return status }
      return -1
    }
    try process.run()
    if terminal { try (process.standardOutput as? FileHandle)?.close() }
  }

  private static func openTerminal() throws -> (screen: FileHandle, program: FileHandle) {
    var (screen, program): (Int32, Int32) = (-1, -1)
    guard openpty(&screen, &program, nil, nil, nil) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    for descriptor in [screen, program] { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    return (FileHandle(fileDescriptor: screen, closeOnDealloc: true), FileHandle(fileDescriptor: program))
  }

  func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for its exit status.
  func status() async -> Int32 { await ended.value }

  /// Waits for its end.
  func ending() async -> FeedBinary.Ending {
    async let output = output.rest()
    async let errors = errors.rest()
    return await FeedBinary.Ending(status: status(), output: output, errors: errors)
  }
}
