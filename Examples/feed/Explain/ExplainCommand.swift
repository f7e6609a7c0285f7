import ArgumentParser
import FeedPolling
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed explain`: explains when a feed is requested next, and why.
struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Explain when a feed will next be requested, and why.",
    discussion: """
      Shows the saved feed, its entry in your list, when the feed is due and by which rule, whether its host is \
      paused, and the latest decisions. Reads the cache file or a fleet's server (--store), and sends no request to the feed's server.
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
    let listed = format == .text ? Self.listing(of: address) : nil
    session.run(explanation) { [format, style = session.outputStyle] explanation in
      Self.text(of: explanation, format, style, listed)
    }
    try session.finish(closing: store)
  }

  /// The entry of the feed in the user's list, as text; `nil` if the list can't be read.
  private static func listing(of address: URL) -> String? {
    let feeds: [SubscribedFeed]
    do { feeds = try SubscriptionPlace.file().read()?.subscriptions ?? [] } catch { return nil }
    guard let feed = feeds.first(where: { FeedAddress.requested($0.address) == FeedAddress.requested(address) }) else {
      return "not in your list"
    }
    let folder = feed.folders.isEmpty ? "" : ", folder \(feed.folders.joined(separator: " / ").printable)"
    return "in your list\(folder)\(feed.interval.map { ", every \($0.text)" } ?? "")"
  }

  private static func text(
    of explanation: FeedExplanation, _ format: OutputFormat, _ style: Style, _ listed: String? = nil
  ) -> String {
    switch format {
    case .text: ExplanationText(style: style, now: Date(), listed: listed).text(of: explanation)
    case .json: ExplanationJSON.line(explanation, now: Date())
    }
  }
}
