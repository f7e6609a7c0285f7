import ArgumentParser

/// `feed cache show`: prints saved feeds.
struct CacheShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show saved feeds, one per line, or one feed with its images.")

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { $0.show(options.address) } }
}
