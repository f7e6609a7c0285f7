import ArgumentParser

/// `feed cache clear`: deletes saved feeds.
struct CacheClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete what is saved: everything, or one feed.")

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { $0.clear(options.address) } }
}
