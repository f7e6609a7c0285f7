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
    subcommands: [CacheShow.self, CacheValidate.self, CacheClear.self, CacheImages.self])
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
    session.run(question(actions)) { $0 }
    try session.finish(closing: file)
  }
}
