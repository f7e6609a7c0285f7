import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed search`: finds what feeds have and had.
struct SearchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "search",
    abstract: "Find what feeds have and had, by its words.",
    discussion: """
      Looks for items of which the title, the text, the alternative text or the place has all words, the newest first; a word \
      that ends with * is the beginning of one. Without words it shows everything that fits. Nothing is asked of any server. \
      The status is 1 when nothing is found.
      """)

  @Argument(help: ArgumentHelp("What to look for.", valueName: "words"))
  var words: [String] = []

  @Option(
    help: ArgumentHelp("Only what is of this feed; may be given several times.", valueName: "url"),
    transform: FeedAddress.parse)
  var feed: [URL] = []

  @Flag(help: "Only what is starred.")
  var starred = false

  @Option(help: ArgumentHelp("The most items to show.", valueName: "n"))
  var limit = 50

  @Option(help: ArgumentHelp("How items are written: for people, or one line of JSON each.", valueName: "text|json"))
  var format = OutputFormat.text

  @Option(help: ArgumentHelp("Not possible: a fleet's server keeps no history.", visibility: .hidden))
  var store: String?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    guard limit > 0 else { throw ValidationError("--limit must be at least 1.") }
    try HistoryDesk.refuse(store)
  }

  func run() throws {
    let session = Session(verbose: common.verbose)
    let desk = HistoryDesk(common, on: session)
    let query = SeenQuery(
      words.joined(separator: " "), feeds: feed.isEmpty ? nil : feed, isStarred: starred, limit: limit)
    let found = desk.history.results(of: query) { [console = session.console] in
      console.setStatus("indexing what was saved since the last search: \($0.text)…")
    }
    .prefix(1).map(\.images).replaceEmpty(with: [])
    .handleEvents(receiveOutput: { [console = session.console] _ in console.setStatus("") })
    session.run(found) { [format, style = session.outputStyle] images in
      Array(SeenText(style: style).text(of: images, format).utf8)
    } written: { images, done in
      if images.isEmpty { session.fail("nothing found in \(desk.path.printable)") }
      done()
    } ended: { completion in
      if case .failure(let error) = completion { session.fail("\(error)".printable) }
    }
    try session.finish(closing: desk.store)
  }
}
