import Foundation
import Testing

/// A running program, `feed` by default, to read from and to send signals to.
package final class RunningFeed: Sendable {
  package let output: Lines
  package let errors: Lines
  private let child: ChildProcess
  private let ended: Task<Int32, Never>

  package var process: pid_t { child.identifier }

  /// - Parameters:
  ///   - input: its standard input.
  ///   - terminal: true to use one terminal for both outputs; `output` then has both.
  ///   - readsOutput: true when its output is read; otherwise the pipe fills up.
  ///   - errorsAreFull: true when its standard error is full and is never read.
  ///   - patience: the seconds after which it is killed, so that its test fails.
  package init(
    program: String = FeedBinary.path, _ arguments: [String], environment: [String: String] = [:],
    input: ChildProcess.Stream = .null, terminal: Bool = false, readsOutput: Bool = true, errorsAreFull: Bool = false,
    patience: Int = 240
  ) throws {
    let output = try terminal ? Channel.terminal() : Channel.pipe()
    let errors = try Channel.pipe()
    if errorsAreFull { Self.fill(errors.writing) }
    // The terminal is used for both outputs, so nothing is written to the other pipe.
    if terminal { close(errors.writing) }
    child = try ChildProcess(
      program, arguments, environment: FeedBinary.environment(environment), input: input,
      output: .descriptor(output.writing), errors: terminal ? nil : .descriptor(errors.writing))
    self.output = Lines(output.reading, starts: readsOutput)
    self.errors = Lines(errors.reading, starts: !errorsAreFull)
    let (stream, continuation) = AsyncStream<Int32>.makeStream()
    Thread.detachNewThread { [child] in
      var patience = patience * 100
      while child.endingNow == nil {
        patience -= 1
        if patience == 0 {
          Issue.record("\(program) \(arguments) was still running after its time, and was killed")
          child.send(SIGKILL)
        }
        usleep(10_000)
      }
      continuation.yield(child.wait().status)
      continuation.finish()
    }
    ended = Task {
      for await status in stream { return status }
      return -1
    }
  }

  package func send(_ signal: Int32) { child.send(signal) }

  /// Waits for its exit status.
  package func status() async -> Int32 { await ended.value }

  /// Waits for its end.
  package func ending() async -> FeedBinary.Ending {
    async let output = output.rest()
    async let errors = errors.rest()
    return await FeedBinary.Ending(status: status(), output: output, errors: errors)
  }

  private static func fill(_ descriptor: Int32) {
    let flags = fcntl(descriptor, F_GETFL)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    while write(descriptor, "x", 1) == 1 {}
    _ = fcntl(descriptor, F_SETFL, flags)
  }
}
