import ArgumentParser
import Foundation
import ImageFeed

/// The options of `load` and `watch`.
struct LoadOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The feed's address, http or https.", valueName: "url"), transform: FeedAddress.parse)
  var address: URL

  @OptionGroup var common: CommonOptions

  @Option(
    help: ArgumentHelp("How long a request may take in all. (default: 30s)", valueName: "d"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Option(
    help: ArgumentHelp(
      "Show the saved feed after any failure, or only when no answer arrived.", valueName: "any|connectivity"))
  var fallback = FallbackPolicy.any

  @Option(help: ArgumentHelp("How the feed is written: for people, or one line of JSON.", valueName: "text|json"))
  var format = OutputFormat.text
}

extension LoadOptions {
  /// The feed that these options describe.
  func source(on session: Session, observer: (any RequestObserver)? = nil) -> FeedSource {
    FeedSource(self, on: session, observer: observer)
  }
}
