import Foundation

/// The `feed` command as it was built, run as a process of its own.
package struct FeedBinary {
  /// How a run ended, and what it wrote.
  package struct Ending: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  package static let path = path(of: "feed")

  /// A program of this package: beside the tests, where the build puts both.
  package static func path(of program: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(program).path
  }

  /// Variables that would change what is tested are not handed on.
  package static func environment(_ extra: [String: String] = [:]) -> [String: String] {
    let unwanted = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NO_COLOR", "XDG_CACHE_HOME", "TERM"]
    return ProcessInfo.processInfo.environment.filter { !unwanted.contains($0.key) }
      .merging(extra) { _, new in new }
  }

  /// Runs `feed` with these arguments to its end.
  package static func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> Ending {
    try await RunningFeed(arguments, environment: environment).ending()
  }

  /// Runs a line of shell script in which `$FEED` is the command.
  package static func shell(_ script: String) async throws -> Ending {
    try await RunningFeed(program: "/bin/sh", ["-c", script], environment: ["FEED": path]).ending()
  }
}
