import ArgumentParser

/// `feed cache show`: prints saved feeds.
struct CacheShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show what is saved: every feed in a line, or one feed with its images.")

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { $0.show(options.address) } }
}
