import ArgumentParser

/// `feed cache clear`: deletes saved feeds.
struct CacheClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete all saved feeds, or one of them.")

  @Flag(help: "Also delete the history, the stars, and the record of shown items.")
  var all = false

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { [all] in $0.clear(options.address, withHistory: all) } }
}
