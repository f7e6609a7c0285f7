import ArgumentParser
import Foundation
import ImageFeed

/// What every command that uses the cache takes.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The file that feeds are saved in. (default: feedstream/feeds.db in $XDG_CACHE_HOME or ~/.cache)",
      valueName: "file"))
  var cache: String?

  @Option(
    help: ArgumentHelp(
      "The age at which a saved feed has expired; \"none\" for any age. (default: 7d)", valueName: "d"),
    transform: MaxAge.init(parsing:))
  var maxAge = MaxAge(FeedCachePolicy.defaultMaxAge)

  @Flag(name: .shortAndLong, help: "Tell on standard error what happens on the way.")
  var verbose = false

  func validate() throws {
    if cache?.isEmpty == true { throw ValidationError("--cache needs the path of a file.") }
  }

  /// The cache file: the one asked for, or the user's.
  var cachePath: String { cache ?? Self.defaultCachePath() }

  /// Where the XDG base directory specification puts it; a relative `XDG_CACHE_HOME` is to be ignored.
  static func defaultCachePath(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    accountHome: @autoclosure () -> String = NSHomeDirectory()
  ) -> String {
    let wanted = environment["XDG_CACHE_HOME"] ?? ""
    // As a shell reads `~`; on Linux Foundation knows only what the account database says.
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? accountHome()
    let folder = wanted.hasPrefix("/") ? wanted : "\(home)/.cache"
    return "\(folder)/feedstream/feeds.db"
  }
}
