// Compares sockets, files, programs, HTTP and TLS with libuv and OpenSSL themselves: the same work in Swift and in C,
// in one run.
import CIO
import FeedStream
import Foundation
import Harness

func echoServer() throws {
  let loop = EventLoop()
  let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
  print(listener.address.port!)
  fflush(nil)
  let echo = listener.connections
    .flatMap { $0.bytes.write(to: $0, atEnd: .closes).catch { _ in Empty<Never, Never>() } }
    .sink { _ in }
  loop.run()
  echo.cancel()
}

func acceptingServer() throws {
  let loop = EventLoop()
  let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
  print(listener.address.port!)
  fflush(nil)
  let accepting = listener.connections.sink { $0.close() }
  loop.run()
  accepting.cancel()
}

func spawn(_ path: String, _ count: Int) {
  let loop = EventLoop()
  let running = (0..<count).publisher.setFailureType(to: SubprocessError.self)
    .flatMap(maxPublishers: .max(4)) { _ in Subprocess(path).output(on: loop) }
    .sink {
      precondition("\($0)" == "finished")
    } receiveValue: { _ in
    }
  loop.run()
  running.cancel()
  loop.close()
}

/// A server in its own process.
final class Server {
  let process = Process()
  let port: Int32

  init(_ kind: String, _ arguments: String...) throws {
    let pipe = Pipe()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = [kind] + arguments
    process.standardOutput = pipe
    try process.run()
    let text = String(decoding: pipe.fileHandleForReading.availableData, as: UTF8.self)
    port = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))!
  }

  /// The CPU seconds that its threads have used, from the scheduler, because `stat` counts in steps of 10 ms.
  var processorSeconds: Double {
    let tasks = "/proc/\(process.processIdentifier)/task"
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
    return threads.reduce(0) { sum, thread in
      let text = (try? String(contentsOfFile: "\(tasks)/\(thread)/schedstat", encoding: .utf8)) ?? ""
      return sum + (text.split(separator: " ").first.flatMap { Double($0) } ?? 0) / 1e9
    }
  }

  /// The CPU time that `work` costs this process.
  func processor(_ work: () -> Double) -> Double {
    let before = processorSeconds
    _ = work()
    return processorSeconds - before
  }

  /// The memory that it has written to, in bytes.
  var residentBytes: Int { writtenBytes(of: "\(process.processIdentifier)") }

  /// Starts a third-party server with a port and a file that has the page.
  init(program: String) throws {
    port = Int32.random(in: 20_000..<30_000)
    let page = FileManager.default.temporaryDirectory.appending(path: "feedstream-page-\(getpid())").path
    try String(cString: c_http_page()).write(toFile: page, atomically: true, encoding: .utf8)
    process.executableURL = URL(filePath: program)
    process.arguments = ["\(port)", page]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    while !c_can_connect(port) { usleep(10_000) }
  }

  func end() {
    process.terminate()
    process.waitUntilExit()
  }
}

func row(
  _ name: String, _ limit: Double, rounds: Int, _ ours: @escaping () throws -> Double,
  _ theirs: @escaping () throws -> Double
)
  throws
{
  guard chosen(name) else { return }
  let times = try interleaved(rounds: rounds, [ours, theirs])
  let ratio = String(format: "%.2f", ratio(times[0], to: times[1]))
  let (mine, other) = (String(format: "%.4f", times[0].median), String(format: "%.4f", times[1].median))
  print("| \(name) | \(mine) s | \(other) s | \(ratio) | \(limit) |")
  fflush(nil)
}

/// A row of one figure.
func figure(_ name: String, _ limit: String, _ measure: () throws -> String) throws {
  guard chosen(name) else { return }
  print("| \(name) | \(try measure()) | | | \(limit) |")
  fflush(nil)
}

/// True when this row is named, or no rows are.
func chosen(_ name: String) -> Bool {
  let names = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("-") && !$0.hasSuffix(".tsv") }
  return names.isEmpty || names.contains { name.contains($0) }
}

switch CommandLine.arguments.dropFirst().first {
case "server-swift": try echoServer()
case "server-c": c_echo_server(1)
case "http-swift": try httpServer()
case "http-c": c_http_server(1)
case "tls-swift": try tlsServer(Papers(in: CommandLine.arguments[2]))
case "tls-c":
  let papers = Papers(in: CommandLine.arguments[2])
  c_tls_server(1, papers.certificate, papers.key, tlsBytes)
case "accepting-swift": try acceptingServer()
case "accepting-c": c_accepting_server(1)
case "lines-swift": print(countLines(CommandLine.arguments[2]))
case "texts-swift": print(countTexts(CommandLine.arguments[2]))
case "slow-input": readStandardInputSlowly()
case "slow-terminal": try readTerminalSlowly()
case "lines-c":
  var bytes = 0
  print(c_count_lines(CommandLine.arguments[2], &bytes), bytes)
default:
  let isShort = CommandLine.arguments.contains("--short")
  let rounds = isShort ? 3 : 7
  // Ten thousand clients need that many descriptors here and in their server.
  var files = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
  files.rlim_cur = min(files.rlim_max, 20_000)
  setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
  print("| | FeedStream | C on libuv | ratio | at most |\n| --- | --- | --- | --- | --- |")
  for connections in [1, 1000] {
    for (size, messages) in [(64, 100_000), (4096, 60_000), (65_536, 12_000)] {
      let (ours, theirs) = (try Server("server-swift"), try Server("server-c"))
      func exchange(_ server: Server) -> Double {
        c_echo_client(server.port, Int32(connections), Int32(size), messages / (isShort ? 4 : 1))
      }
      try row(
        "echo, \(connections) × \(size) B", 1.15, rounds: rounds, { exchange(ours) }, { exchange(theirs) })
      try row(
        "echo, \(connections) × \(size) B, processor of the server", 1.15, rounds: rounds,
        { ours.processor { exchange(ours) } }, { theirs.processor { exchange(theirs) } })
      for server in [ours, theirs] { server.end() }
    }
  }
  do {
    let (ours, theirs) = (try Server("accepting-swift"), try Server("accepting-c"))
    func accept(_ server: Server) -> Double {
      c_accept(server.port, server.process.processIdentifier, 500, isShort ? 4 : 20)
    }
    try row("connections accepted and closed", 1.2, rounds: rounds, { accept(ours) }, { accept(theirs) })
    for server in [ours, theirs] { server.end() }
  }
  try httpRows(isShort, rounds: rounds)
  try peerRows(isShort, rounds: rounds)
  try tlsRows(rounds: rounds)
  try crowdRows(isShort)
  try lineRows(isShort, rounds: rounds)
  let folder = FileManager.default.temporaryDirectory.appending(path: "feedstream-io-\(getpid())").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  try slowReaderRows(folder)
  try row("programs run", 1.2, rounds: rounds) {
    Clock.wall.time { spawn("/bin/true", 500) }.nanoseconds / 1e9
  } _: {
    Clock.wall.time { c_spawn("/bin/true", 500) }.nanoseconds / 1e9
  }
}
