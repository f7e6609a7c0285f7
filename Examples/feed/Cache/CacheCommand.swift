import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed cache`: shows, validates or deletes saved feeds.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Show, validate or clear saved feeds and images.",
    subcommands: [CacheShow.self, CacheValidate.self, CacheClear.self, CacheImages.self],
    defaultSubcommand: CacheShow.self)
}

/// The options of `show`, `validate` and `clear`.
struct CacheOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The URL of one feed. (default: all feeds)", valueName: "url"),
    transform: FeedAddress.parse)
  var address: URL?

  @OptionGroup var common: CommonOptions
}

extension CacheOptions {
  /// Queries the store and writes the result.
  ///
  /// - Parameter question: returns a publisher that delivers the text of the result.
  func run<P: Publisher>(_ question: (CacheActions) -> P) throws where P.Output == String, P.Failure == FeedStoreError {
    let session = Session(common)
    let file = SQLiteFeedStore(cacheAt: common.cachePath, keeping: common.keep, on: session)
    let store = LoggingStore(store: file, log: session.log)
    let actions = CacheActions(
      path: common.cachePath, store: store, history: file, worker: SerialWorker(on: session.loop),
      cache: FeedCache(store: store, on: session.loop), maxAge: common.maxAge.duration,
      style: session.outputStyle)
    var isEmpty = true
    session.run(question(actions)) {
      $0
    } written: { _, done in
      isEmpty = false
      done()
    } ended: { [address, common] completion in
      if case .failure(let error) = completion {
        session.fail("\(error)".printable)
        if case .deletion(let cause, _) = error, cause.mayBeFullDisk,
          FileManager.default.fileExists(atPath: common.imageFolder + "/data")
        {
          let option = common.cache.map { " --cache \($0.shellWord)" } ?? ""
          session.console.hint("if the disk is full, run \"feed cache images clear\(option)\" first")
        }
      } else if isEmpty, let address {
        session.fail("nothing is saved for \(address.shown) in \(common.cachePath.printable)")
      }
    }
    try session.finish(closing: file)
  }
}

/// `feed cache show`: prints saved feeds.
struct CacheShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show saved feeds, one per line, or one feed with its images.")

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { $0.show(options.address) } }
}

/// `feed cache validate`: deletes feeds that have expired or can't be read.
struct CacheValidate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "validate", abstract: "Delete saved feeds that have expired or can't be read.")

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { $0.validate(options.address) } }
}

/// `feed cache clear`: deletes saved feeds.
struct CacheClear: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Delete all saved feeds, or one of them.")

  @Flag(help: "Also delete the history, the stars, and the record of shown items.")
  var all = false

  @OptionGroup var options: CacheOptions

  func run() throws { try options.run { [all] in $0.clear(options.address, withHistory: all) } }
}
