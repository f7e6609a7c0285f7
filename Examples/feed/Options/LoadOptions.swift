import ArgumentParser
import Foundation
import ImageFeed

/// The options of `load` and `watch`.
struct LoadOptions: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The feeds' addresses, http or https; the subscriptions without any.", valueName: "url"),
    transform: FeedAddress.parse)
  var addresses: [URL] = []

  @Option(help: ArgumentHelp("A list of feeds (OPML) to add to the addresses.", valueName: "file"), completion: .file())
  var opml: String?

  @Option(
    help: ArgumentHelp(
      "Only the feeds of this folder of the list; repeat it for a folder within a folder.", valueName: "name"))
  var folder: [String] = []

  @OptionGroup var common: CommonOptions

  @OptionGroup var request: RequestOptions

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp("How long a request may take in all. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Option(
    help: ArgumentHelp(
      "Show the saved feed after any failure, or only when no answer arrived.", valueName: "any|connectivity"))
  var fallback = FallbackPolicy.any

  @Option(help: ArgumentHelp("How the feed is written: for people, or one line of JSON.", valueName: "text|json"))
  var format = OutputFormat.text

  @Option(
    help: ArgumentHelp(
      "How many columns text may have, 20 or more. (default: those of the terminal)", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if let width, width < 20 { throw ValidationError("--width must be at least 20.") }
  }
}
