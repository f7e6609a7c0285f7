import ArgumentParser

/// `feed cache validate`: deletes feeds that have expired or can't be read.
struct CacheValidate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Delete saved feeds that have expired or can't be read.")

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { $0.validate(options.address) } }
}
