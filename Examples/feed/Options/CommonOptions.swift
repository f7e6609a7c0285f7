import ArgumentParser
import Foundation
import ImageFeed
import PlainText

/// The options of every command that uses the cache.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The cache file, in which feeds are saved. (default: feedstream/feeds.db in $XDG_CACHE_HOME or ~/.cache)",
      valueName: "file"), completion: .file())
  var cache: String?

  @Option(
    help: ArgumentHelp(
      "The age at which saved feeds expire; \"none\" for never. (default: 7d)", valueName: "duration"),
    transform: MaxAge.init(parsing:))
  var maxAge = MaxAge(FeedCachePolicy.defaultMaxAge)

  @Option(
    help: ArgumentHelp(
      "Maximum total size of saved images, such as 500MB or 1GB; images of starred items don't count. (default: 150MB)",
      valueName: "size"),
    transform: ByteCount.init(parsing:))
  var imageCacheSize = ByteCount(150_000_000)

  @Option(
    help: ArgumentHelp(
      "How many former items to keep per feed, such as 500; for how long, such as 90d; or both: 500,90d. A limit that you leave out "
        + "keeps its default. \"none\" keeps no items; \"all\" keeps every item. (default: 1000,365d)", valueName: "n,d"
    ), transform: HistoryArgument.policy)
  var keep = HistoryPolicy()

  @Flag(name: .shortAndLong, help: "Write only errors to standard error: no warnings, notes or status line.")
  var quiet = false

  @OptionGroup var log: LogOptions

  func validate() throws {
    if cache?.isEmpty == true { throw ValidationError("--cache needs the path of a file.") }
    if log.verbose, quiet { throw ValidationError("Use --verbose or --quiet, not both.") }
    try Self.check(cachePath)
  }

  /// Refuses a file that isn't a cache of this program, and doesn't change it.
  static func check(_ path: String, as kind: ForeignFiles.Kind = .feeds) throws {
    if isFolder(path) { throw ValidationError("\(path.printable) is a folder. Choose a file.") }
    guard ForeignFiles.isForeign(path, to: kind) else { return }
    guard ForeignFiles.isForeign(path, to: kind == .feeds ? .responses : .feeds) else {
      let (actual, wanted) = ("a cache of feeds", "the HTTP cache of \"feed get\"")
      throw ValidationError(
        "\(path.printable) is \(kind == .feeds ? "\(wanted), not \(actual)" : "\(actual), not \(wanted)"). "
          + "Choose another file.")
    }
    throw ValidationError(
      "\(path.printable) isn't a cache that this program wrote, so it was left unchanged. Choose another file.")
  }

  static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Refuses a folder of images that isn't this program's, and doesn't change it.
  func checkImages() throws {
    let folder = imageFolder
    guard ForeignFiles.isForeign(imageFolder: folder) else { return }
    throw ValidationError(
      "\(folder.printable) contains files from other programs, so nothing is saved there. "
        + "Choose a cache file in another folder.")
  }

  var imageFolder: String {
    URL(fileURLWithPath: cachePath).deletingLastPathComponent().appendingPathComponent("images").path
  }

  /// The cache file: the given one, or the user's default.
  var cachePath: String { cache ?? Self.defaultCachePath() }

  /// The location that the XDG base directory specification defines; a relative `XDG_CACHE_HOME` is ignored.
  static func defaultCachePath(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    accountHome: @autoclosure () -> String = NSHomeDirectory()
  ) -> String {
    UserFolders.path("XDG_CACHE_HOME", else: ".cache", environment: environment, accountHome: accountHome())
      + "/feeds.db"
  }
}
