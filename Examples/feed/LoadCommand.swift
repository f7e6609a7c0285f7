import ArgumentParser
import FeedStream
import ImageFeed

/// `feed load`: shows the feed once.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract: "Load a feed and show it.",
    discussion: """
      The feed comes from its server and is saved; when the server cannot be reached, the saved feed is shown if it is \
      younger than --max-age.
      """)

  @OptionGroup var load: LoadOptions

  func run() throws {
    let session = Session(verbose: load.common.verbose)
    let source = load.source(on: session)
    let screen = FeedScreen(load, on: session)
    let feed = source.loader.load().catch { error in
      source.explain(error).flatMap { Fail(error: $0) }
    }
    session.run(feed) {
      screen.text(of: $0)
    } ended: { completion in
      if case .failure(let failure) = completion { session.fail(screen.text(of: failure)) }
    }
    try session.finish(closing: source.store)
  }
}
