import ArgumentParser
import FeedStream
import ImageFeed

/// `feed watch`: shows the feed again whenever it or its origin changes.
struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Load a feed again and again, and show it whenever it changes.",
    discussion: """
      The feed is shown when its images change and when it begins or ceases to come from the cache. Errors are told on \
      standard error when they change, and do not end it; Ctrl-C does.
      """)

  @OptionGroup var load: LoadOptions

  @Option(
    help: ArgumentHelp("How long to wait between two loads, such as 30s or 15m.", valueName: "d"),
    transform: DurationArgument.init(positive:))
  var every: DurationArgument

  @Option(help: ArgumentHelp("End after the feed was shown this many times.", valueName: "n"))
  var count: Int?

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
  }

  func run() throws {
    let session = Session(verbose: load.common.verbose)
    let pulse = Pulse(every: every.duration, on: session)
    let source = load.source(on: session, observer: pulse)
    let screen = FeedScreen(load, on: session, isRepeated: true)
    let updates = source.loader.updates(every: every.duration)
      .flatMap(maxPublishers: .max(1)) { update in
        Result.Publisher(update)
          .map(Feed?.some)
          .catch { error in
            source.explain(error).map { failure in
              session.console.report(screen.text(of: failure))
              return nil
            }
          }
      }
      .compactMap { $0 }
      .prefix(count ?? .max)
    session.run(updates) { screen.text(of: $0) }
    try session.finish(closing: source.store)
  }
}
