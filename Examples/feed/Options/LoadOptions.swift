import ArgumentParser
import ImageFeed

/// The options of `load`, `watch` and `browse`.
struct LoadOptions: ParsableArguments {
  @OptionGroup var list: FeedListOptions

  @OptionGroup var common: CommonOptions

  @OptionGroup var request: RequestOptions

  @OptionGroup var trust: TrustOptions

  @Option(
    help: ArgumentHelp("Time limit for each request. (default: 30s)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var timeout = DurationArgument(.seconds(30))

  @Option(
    help: ArgumentHelp(
      "Show the saved feed after any failure, or only if no complete response arrived.", valueName: "any|connectivity"))
  var fallback = FallbackPolicy.any

  @Option(help: ArgumentHelp("Output format: text, or one line of JSON per feed.", valueName: "text|json"))
  var format = OutputFormat.text

  @Option(
    help: ArgumentHelp(
      "Width of text in columns, from 20 to 10000. (default: the terminal's width)", valueName: "columns"))
  var width: Int?

  func validate() throws {
    if let width, !(20...10_000).contains(width) { throw ValidationError("--width must be from 20 to 10000.") }
  }
}
