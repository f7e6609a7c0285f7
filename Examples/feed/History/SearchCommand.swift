import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed search`: searches current and former items of feeds.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Search the current and former items in saved feeds.",
    discussion: """
      Searches the title, text, alternative text and location of each item, and shows the items that contain every \
      word, newest first. sun* matches all words that begin with sun. Without words, shows every item that matches the \
      options. Makes no requests. The exit status is 1 if nothing was found.
      """)

  @Argument(help: ArgumentHelp("The words to find.", valueName: "words"))
  var words: [String] = []

  @Option(
    help: ArgumentHelp("Search only this feed; may be repeated.", valueName: "url"),
    transform: FeedAddress.parse)
  var feed: [URL] = []

  @Flag(help: "Search only starred items.")
  var starred = false

  @Option(help: ArgumentHelp("Maximum number of items to show.", valueName: "n"))
  var limit = 50

  @Option(help: ArgumentHelp("Output format: text, or one line of JSON per item.", valueName: "text|json"))
  var format = OutputFormat.text

  @Flag(help: ArgumentHelp("Accepted as in other commands; a search never makes requests.", visibility: .hidden))
  var offline = false

  @Option(help: ArgumentHelp("Not supported: a fleet's server keeps no history.", visibility: .hidden))
  var store: String?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
    try HistorySource.refuse(store)
  }

  func run() throws {
    let session = Session(common)
    let source = HistorySource(common, on: session)
    let query = SeenQuery(
      words.joined(separator: " "), feeds: feed.isEmpty ? nil : feed, isStarred: starred,
      // One more, to notice that there are others.
      limit: min(limit, .max - 1) + 1)
    let found = source.history.results(of: query) { [console = session.console] in
      console.setStatus("indexing items saved since the last search: \($0.text)…")
    }
    .prefix(1).map(\.images).replaceEmpty(with: [])
    .handleEvents(receiveOutput: { [console = session.console] _ in console.setStatus("") })
    let text = SeenText(style: session.outputStyle, names: HistorySource.names)
    session.run(found) { [format, limit] images in
      Array(text.text(of: Array(images.prefix(limit)), format).utf8)
    } written: { [limit] images, done in
      if images.isEmpty { session.fail("nothing found in \(source.path.printable)") }
      if images.count > limit {
        session.console.note("Showing the first \(counted(limit, "item")); to show more, use --limit")
      }
      done()
    }
    try session.finish(closing: source.store)
  }
}
