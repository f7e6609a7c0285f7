import Foundation
import TestSupport

/// One run of `feed` in its own process: its output, its duration, and its maximum memory.
struct MeasuredRun: Sendable {
  let status: Int32
  let output: String
  let errors: String
  let seconds: Double
  /// The maximum resident memory, in MiB.
  let peak: Double

  /// The program's path next to the tests, where the build puts it.
  private static let feed = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("feed").path

  /// - Parameters:
  ///   - arguments: the arguments of `feed`; the cache file is `feeds.db` in `folder`, unless the arguments name
  ///     another.
  ///   - folder: the folder of the cache file and of the output.
  ///   - environment: variables to add to this process's.
  init(
    _ arguments: [String], in folder: TemporaryFolder, cache: Bool = true, environment: [String: String] = [:]
  ) throws {
    let (output, errors) = (folder.file("output"), folder.file("errors"))
    let begin = DispatchTime.now().uptimeNanoseconds
    let process = try Self.spawn(
      [Self.feed] + arguments + (cache ? ["--cache", folder.file("feeds.db")] : []), environment, output: output,
      errors: errors)
    // Don't use `ru_maxrss`: a child's value begins with its parent's memory at the time of the start.
    var (status, most): (Int32, Double) = (0, 0)
    while waitpid(process, &status, WNOHANG) == 0 {
      most = max(most, ProcessMemory.mebibytes("VmHWM", of: process))
      usleep(4_000)
    }
    seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
    peak = most
    // The status as a shell shows it; the macros of wait(2) aren't available in Swift.
    self.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    // Invalid UTF-8 is repaired.
    self.output = String(decoding: try Data(contentsOf: URL(filePath: output)), as: UTF8.self)
    self.errors = String(decoding: try Data(contentsOf: URL(filePath: errors)), as: UTF8.self)
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String: String], output: String, errors: String
  ) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    for (number, path) in [(1, output), (2, errors)] as [(Int32, String)] {
      posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    for descriptor in 3..<1024 as Range<Int32> { posix_spawn_file_actions_addclose(&actions, descriptor) }
    // The tests' threads may have signals blocked, which a child would inherit.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let words = arguments.map { strdup($0) } + [nil]
    let variables =
      ProcessInfo.processInfo.environment.filter { !$0.key.lowercased().hasSuffix("_proxy") }
      .merging(environment) { $1 }.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var process = pid_t()
    let code = posix_spawn(&process, arguments[0], &actions, &attributes, words, variables)
    guard code == 0 else { throw POSIXError(.init(rawValue: code) ?? .EIO) }
    return process
  }
}
