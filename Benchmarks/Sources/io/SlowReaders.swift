import CIO
import FeedStream
import Foundation
import Harness

/// Reads at a given rate, by requesting the next chunk when it is due.
final class SlowReader<Value>: Subscriber {
  typealias Input = Value
  typealias Failure = any Error

  private let loop: EventLoop
  private let bytesPerSecond: Double
  private let count: (Value) -> Int
  private let begun: StreamInstant
  private var subscription: (any Subscription)?
  private(set) var total = 0
  private(set) var ending: String?

  init(_ bytesPerSecond: Double, on loop: EventLoop, _ count: @escaping (Value) -> Int) {
    (self.bytesPerSecond, self.loop, self.count) = (bytesPerSecond, loop, count)
    begun = loop.now
  }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    subscription.request(.max(1))
  }

  func receive(_ value: Value) -> Subscribers.Demand {
    total += count(value)
    let due = begun.advanced(by: Self.span(Double(total) / bytesPerSecond))
    loop.schedule(after: max(due, loop.now)) { [weak self] in self?.subscription?.request(.max(1)) }
    return .none
  }

  func receive(completion: Subscribers.Completion<any Error>) { ending = "\(completion)" }

  func cancel() { subscription?.cancel() }

  static func span(_ seconds: Double) -> StreamInstant.Stride { .nanoseconds(Int(seconds * 1e9)) }
}

/// The memory that a process has written to, in bytes: without the pages of its program, which are loaded as they are
/// used.
func writtenBytes(of process: String) -> Int {
  let text = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
  let line = text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
  return (line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
}

/// The growth of this process while it reads `rate` bytes per second for five seconds, after one second of warm-up.
func growth<P: Publisher>(
  _ bytes: P, on loop: EventLoop, rate: Double = 1e6, _ count: @escaping (P.Output) -> Int
) -> String {
  let reader = SlowReader<P.Output>(rate, on: loop, count)
  bytes.mapError { $0 as any Error }.receive(subscriber: reader)
  func run(for seconds: Double) {
    loop.schedule(after: loop.now.advanced(by: SlowReader<Never>.span(seconds))) { loop.stop() }
    loop.run(.untilStopped)
  }
  run(for: 1)
  let before = writtenBytes(of: "self")
  run(for: 5)
  let grown = (writtenBytes(of: "self") - before) / 1024
  reader.cancel()
  if let ending = reader.ending { return "ended: \(ending) after \(reader.total) bytes" }
  return "\(grown) (\(reader.total / 1_000) kB read)"
}

/// Run this in a process whose standard input or terminal another process fills as fast as possible.
func readStandardInputSlowly() {
  let loop = EventLoop()
  print(growth(StandardInput.bytes(on: loop), on: loop, \.count))
}

func readTerminalSlowly() throws {
  let loop = EventLoop()
  let terminal = try Terminal(on: loop)
  let result = growth(terminal.keys, on: loop, rate: 10_000) { _ in 1 }
  FileHandle.standardError.write(Data((result + "\n").utf8))
}

/// The last line that `sh -c` prints.
private func shell(_ command: String) throws -> String {
  let (process, pipe) = (Process(), Pipe())
  process.executableURL = URL(filePath: "/bin/sh")
  process.arguments = ["-c", command]
  process.standardOutput = pipe
  try process.run()
  let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  return text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "nothing"
}

/// Writes to a socket as fast as it takes, until it breaks.
private func flood(_ descriptor: Int32) {
  Thread.detachNewThread {
    let block = [UInt8](repeating: 120, count: 65_536)
    while write(descriptor, block, block.count) > 0 {}
    close(descriptor)
  }
}

func slowReaderRows(_ folder: String) throws {
  let title = "read at 1 MB/s and written without end: growth in 5 s, KiB"
  let loop = EventLoop()
  let program = CommandLine.arguments[0]
  try figure("a file, \(title)", "flat") {
    let path = folder + "/sparse"
    FileManager.default.createFile(atPath: path, contents: nil)
    truncate(path, 8 << 30)
    return growth(File(path).bytes(on: loop), on: loop, \.count)
  }
  try figure("a FIFO, \(title)", "flat") {
    let path = folder + "/fifo"
    mkfifo(path, 0o600)
    let writer = Process()
    writer.executableURL = URL(filePath: "/bin/sh")
    writer.arguments = ["-c", "exec cat /dev/zero > '\(path)'"]
    try writer.run()
    defer { writer.terminate() }
    return growth(File(path).bytes(on: loop), on: loop, \.count)
  }
  try figure("a program's output, \(title)", "flat") {
    growth(Subprocess("cat", ["/dev/zero"]).output(on: loop), on: loop, \.count)
  }
  for address in [SocketAddress.internet("127.0.0.1", port: 0), .unix(folder + "/socket")] {
    try figure("\(address.port == nil ? "a UNIX socket" : "TCP"), \(title)", "flat") {
      let listener = try Listener(at: address, on: loop)
      let port = Int32(listener.address.port ?? 0)
      Thread.detachNewThread { flood(c_connect(port, folder + "/socket")) }
      return growth(
        listener.connections.prefix(1).setFailureType(to: SystemError.self).flatMap { $0.bytes }, on: loop, \.count)
    }
  }
  try figure("datagrams, \(title)", "flat") {
    let socket = try DatagramSocket(at: .internet("127.0.0.1", port: 0), on: loop)
    let port = Int32(socket.address.port!)
    nonisolated(unsafe) var isOver = false
    Thread.detachNewThread { while !isOver { c_send_datagram(port, 1_000) } }
    defer { isOver = true }
    return growth(socket.datagrams, on: loop) { $0.bytes.count }
  }
  try figure("standard input, \(title)", "flat") { try shell("cat /dev/zero | '\(program)' slow-input") }
  try figure("a terminal's keys, at 10 kB/s: growth in 5 s, KiB", "flat") {
    try shell("yes | script -qec \"'\(program)' slow-terminal\" /dev/null 2>&1 | tr -d '\\r' | grep read")
  }
}
