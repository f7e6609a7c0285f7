import FeedRedis
import Foundation
import TestSupport

/// A real Redis server for one test, on a socket in its own folder, which saves nothing unless its arguments say so.
public final class RedisServer {
  public struct Missing: Error, CustomStringConvertible {
    public let description: String
  }

  public let folder: URL
  public let port: Int?
  private var process: ChildProcess?
  private let arguments: [String]

  /// - Parameters:
  ///   - arguments: additional arguments, such as `["--maxmemory", "2mb"]`.
  ///   - port: an additional port on the loopback interface.
  public init(_ arguments: [String] = [], port: Int? = nil) throws {
    folder = URL(fileURLWithPath: "/tmp/feedredis-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    self.arguments = arguments
    self.port = port
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  public var socket: String { folder.path + "/s" }
  public var address: RedisAddress { RedisAddress(.unix(path: socket)) }
  /// The server's URL, as passed to a command.
  public var text: String { "unix://\(socket)" }

  /// Starts the server, even again after ``kill()``, and waits until it replies.
  public func start() throws {
    guard let program = Self.program else {
      throw Missing(description: "redis-server is not installed; Scripts/test installs it")
    }
    try? FileManager.default.removeItem(atPath: socket)
    let process = try ChildProcess(
      program,
      [
        "--port", "\(port ?? 0)", "--bind", "127.0.0.1", "--unixsocket", socket, "--dir", folder.path, "--save", "",
        "--appendonly", "no", "--daemonize", "no", "--logfile", folder.path + "/log",
      ] + arguments)
    self.process = process
    for _ in 0..<1000 {
      if FileManager.default.fileExists(atPath: socket), let reply = try? cli("PING"), reply != "" { return }
      guard process.endingNow == nil else { break }
      usleep(10_000)
    }
    throw Missing(description: "redis-server did not start: \(log)")
  }

  /// The server's log.
  public var log: String { (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? "" }

  /// Ends the server without a warning, as a crash does.
  public func kill() {
    guard let process else { return }
    self.process = nil
    process.send(SIGCONT)
    process.send(SIGKILL)
    process.wait()
  }

  /// Suspends the server: connections stay open, but get no replies.
  public func freeze() { process?.send(SIGSTOP) }
  public func thaw() { process?.send(SIGCONT) }

  /// The output of `redis-cli`: another client than ours.
  @discardableResult public func cli(_ words: String...) throws -> String { try cli(words) }

  /// The output of `redis-cli`: another client than ours.
  @discardableResult public func cli(_ words: [String]) throws -> String {
    let output = try ChildProcess.run("/usr/bin/redis-cli", ["-s", socket] + words).output
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private static let program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}
