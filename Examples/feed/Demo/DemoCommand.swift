import ArgumentParser
import FeedStream
import Foundation
import Synchronization

/// `feed demo`: shows the scenarios of the specification, without a network.
struct DemoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Demonstrate the caching scenarios, without a network.",
    discussion: """
      Starts a server on this machine, loads its feed over HTTP, saves it in a temporary cache, stops the server and sets \
      the demo's clock ahead. The exit status is 0 only if every scenario had the specified result.
      """)

  func run() throws {
    // Ignore SIGPIPE, so that the folder is removed even if the reader of a pipe is gone.
    signal(SIGPIPE, SIG_IGN)
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("feedstream-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let loop = EventLoop()
    var status: Int32 = 0
    let signals = try [SIGINT, SIGTERM].map { number in
      try loop.signal(number) {
        status = 128 + number
        loop.stop()
      }
    }
    let ended = Ending()
    let walk = try DemoWalk(
      on: loop, cacheAt: folder.appendingPathComponent("feeds.db").path, style: .suiting(STDOUT_FILENO)
    ) { text in
      guard ended.result == nil else { return }
      // The walk goes on, because its folder is removed only when nothing is written to it anymore.
      do { try StandardOutput.write(text) } catch { ended.set(.failure(error)) }
    }
    let task = Task {
      do {
        ended.set(.success(try await walk.run()))
      } catch {
        ended.set(.failure(error))
      }
      loop.stop()
    }
    loop.run(.untilStopped)
    for signal in signals { signal.close() }
    task.cancel()
    if status != 0 { throw ExitCode(status) }
    guard try ended.result?.get() == true else { throw ExitCode.failure }
  }
}

/// The completion of the walk, or the first failure to write, which is passed from the task to the thread that runs the
/// loop.
private final class Ending: Sendable {
  private let value = Mutex<Result<Bool, any Error>?>(nil)

  var result: Result<Bool, any Error>? { value.withLock { $0 } }

  func set(_ result: Result<Bool, any Error>) { value.withLock { $0 = $0 ?? result } }
}
