import ArgumentParser
import FeedPolling
import FeedStream
import Foundation
import ImageFeed

/// `feed explain`: explains when a feed is requested next, and why.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain when a feed will next be requested, and why.",
    discussion: """
      Shows the saved feed, when the feed is due and by which rule, whether its host is paused, and the latest \
      decisions. Reads the cache file or a fleet's server (--store), and sends no request to the feed's server.
      """)

  @Argument(
    help: ArgumentHelp("The feed's URL (http or https).", valueName: "url"), transform: FeedAddress.parse)
  var address: URL

  @Option(
    help: ArgumentHelp(
      "Read from a fleet's server, such as redis://host, instead of the cache file.", valueName: "url"),
    transform: StoreArgument.init(parsing:))
  var store: StoreArgument?

  @OptionGroup var common: CommonOptions

  @Option(help: ArgumentHelp("Output format: text, or one line of JSON.", valueName: "text|json"))
  var format = OutputFormat.text

  func run() throws {
    let session = Session(common)
    if let fleet = store {
      return try session.answer(session.fleet(at: fleet).explanation(of: address)) {
        [format, style = session.outputStyle] in Self.text(of: $0, format, style)
      }
    }
    let store = SQLiteFeedStore(cacheAt: common.cachePath, on: session)
    let worker = SerialWorker(on: session.loop)
    let explanation = worker.publisher { [address] () throws(FeedStoreError) in
      try FeedExplanation(of: address, in: store)
    }
    session.run(explanation) { [format, style = session.outputStyle] explanation in
      Self.text(of: explanation, format, style)
    }
    try session.finish(closing: store)
  }

  private static func text(of explanation: FeedExplanation, _ format: OutputFormat, _ style: Style) -> String {
    switch format {
    case .text: ExplanationText(style: style, now: Date()).text(of: explanation)
    case .json: ExplanationJSON.line(explanation, now: Date())
    }
  }
}
