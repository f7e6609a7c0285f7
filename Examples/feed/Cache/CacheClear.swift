import ArgumentParser

/// `feed cache clear`: deletes saved feeds.
struct CacheClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete what is saved: everything, or one feed.")

  @Flag(help: "Delete what feeds had, stars, and what is remembered as shown, too.")
  var all = false

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { [all] in $0.clear(options.address, withHistory: all) } }
}
