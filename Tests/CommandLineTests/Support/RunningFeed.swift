import Foundation
import Synchronization

/// A `feed` that runs, to be read from and signalled.
final class RunningFeed: Sendable {
  let output: Lines
  let errors: Lines
  // Read by the process that was started only; `Process` guards its own state with a lock.
  nonisolated(unsafe) private let process = Process()
  private let ended: Task<Int32, Never>

  init(
    program: URL = FeedBinary.url, _ arguments: [String], environment: [String: String] = [:]
  ) throws {
    let (output, errors) = (Pipe(), Pipe())
    process.executableURL = program
    process.arguments = arguments
    process.environment = FeedBinary.environment(environment)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
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
    self.output = Lines(output.fileHandleForReading)
    self.errors = Lines(errors.fileHandleForReading)
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
