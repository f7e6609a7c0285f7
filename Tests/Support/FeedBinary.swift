import Foundation

/// The built `feed` command, run as a separate process.
package struct FeedBinary {
  /// The exit status of a run, and its output.
  package struct Ending: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  package static let path = path(of: "feed")

  /// The path of a program of this package: next to the tests, where the build puts both.
  package static func path(of program: String) -> String {
    URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      .deletingLastPathComponent().appendingPathComponent(program).path
  }

  /// This process's environment without variables that would affect the tests.
  package static func environment(_ extra: [String: String] = [:]) -> [String: String] {
    let unwanted = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "NO_COLOR", "XDG_CACHE_HOME", "TERM"]
    // The tests must not use the subscriptions of the user who runs them.
    let nobody = FileManager.default.temporaryDirectory.appendingPathComponent("feed-tests-of-nobody").path
    let none = ["XDG_CONFIG_HOME": nobody + "/config", "XDG_CACHE_HOME": nobody + "/cache"]
    return ProcessInfo.processInfo.environment.filter { !unwanted.contains($0.key) }
      .merging(none) { _, new in new }
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
