import ArgumentParser
import Foundation
import ImageFeed

/// The options of every command that uses the cache.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The file that feeds are saved in. (default: feedstream/feeds.db in $XDG_CACHE_HOME or ~/.cache)",
      valueName: "file"), completion: .file())
  var cache: String?

  @Option(
    help: ArgumentHelp(
      "The age at which a saved feed has expired; \"none\" for any age. (default: 7d)", valueName: "d"),
    transform: MaxAge.init(parsing:))
  var maxAge = MaxAge(FeedCachePolicy.defaultMaxAge)

  @Option(
    help: ArgumentHelp("The most that saved pictures take, such as 500MB or 1GB. (default: 150MB)", valueName: "size"),
    transform: ByteCount.init(parsing:))
  var imageCacheSize = ByteCount(150_000_000)

  @Option(
    help: ArgumentHelp(
      "How many items that feeds no longer have are kept of each, and how long: such as 500, 90d, 500,90d, none or all. "
        + "(default: 1000,365d)", valueName: "n,d"), transform: HistoryArgument.policy)
  var keep = HistoryPolicy()

  @Flag(name: .shortAndLong, help: "Report each step on standard error.")
  var verbose = false

  func validate() throws {
    if cache?.isEmpty == true { throw ValidationError("--cache needs the path of a file.") }
  }

  /// The cache file: the one given, or the user's default.
  var cachePath: String { cache ?? Self.defaultCachePath() }

  /// The pictures, kept next to the feeds; every command has the same.
  var imageStore: DiskImageStore {
    let folder = URL(fileURLWithPath: cachePath).deletingLastPathComponent().appendingPathComponent("images")
    return DiskImageStore(folder: folder.path, limit: imageCacheSize.bytes)
  }

  /// The place that the XDG base directory specification defines; a relative `XDG_CACHE_HOME` is ignored.
  static func defaultCachePath(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    accountHome: @autoclosure () -> String = NSHomeDirectory()
  ) -> String {
    let wanted = environment["XDG_CACHE_HOME"] ?? ""
    // As a shell expands `~`; on Linux Foundation only knows the account database.
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? accountHome()
    let folder = wanted.hasPrefix("/") ? wanted : "\(home)/.cache"
    return "\(folder)/feedstream/feeds.db"
  }
}
