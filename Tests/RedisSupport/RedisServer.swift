import FeedRedis
import Foundation

/// A real Redis server of a test's own, on a socket in a folder of its own, with nothing kept unless asked for.
public final class RedisServer {
  public struct Missing: Error, CustomStringConvertible {
    public let description: String
  }

  public let folder: URL
  public let port: Int?
  private var process: Process?
  private let arguments: [String]

  /// - Parameters:
  ///   - arguments: more of them: `["--maxmemory", "2mb"]`.
  ///   - port: also listens there, on the loopback interface.
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
  /// As it is given to a command.
  public var text: String { "unix://\(socket)" }

  /// Starts it, again after ``kill()``, and waits until it answers.
  public func start() throws {
    guard let program = Self.program else {
      throw Missing(description: "redis-server is not installed; Scripts/setup installs what the tests need")
    }
    try? FileManager.default.removeItem(atPath: socket)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.currentDirectoryURL = folder
    process.arguments =
      [
        "--port", "\(port ?? 0)", "--bind", "127.0.0.1", "--unixsocket", socket, "--dir", folder.path, "--save", "",
        "--appendonly", "no", "--daemonize", "no", "--logfile", folder.path + "/log",
      ] + arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    for _ in 0..<1000 {
      if FileManager.default.fileExists(atPath: socket), let reply = try? cli("PING"), reply != "" { return }
      guard process.isRunning else { break }
      usleep(10_000)
    }
    throw Missing(description: "redis-server did not start: \(log)")
  }

  /// What the server wrote.
  public var log: String { (try? String(contentsOfFile: folder.path + "/log", encoding: .utf8)) ?? "" }

  /// Ends it without a warning, as a crash does.
  public func kill() {
    guard let process else { return }
    self.process = nil
    guard process.isRunning else { return }
    _ = Foundation.kill(process.processIdentifier, SIGCONT)
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Stops it so that connections stay and nothing is answered.
  public func freeze() { if let process { _ = Foundation.kill(process.processIdentifier, SIGSTOP) } }
  public func thaw() { if let process { _ = Foundation.kill(process.processIdentifier, SIGCONT) } }

  /// What `redis-cli` prints: another client than ours.
  @discardableResult public func cli(_ words: String...) throws -> String { try cli(words) }

  /// What `redis-cli` prints: another client than ours.
  @discardableResult public func cli(_ words: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/redis-cli")
    process.arguments = ["-s", socket] + words
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
  }

  private static let program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server", "/usr/bin/valkey-server"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }
}
