import ArgumentParser
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// `feed star`: marks items to be kept permanently.
struct StarCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "star",
    abstract: "Star items to keep them permanently.",
    discussion: """
      Identify an item by the URL of its post or image, as shown by "feed load" and "feed search", or by its id, \
      which both commands show with --format json. Without arguments, shows the starred items. An item stays starred even if it \
      is removed from its feed, or if the cache is cleared without --all. The item's image is loaded, and kept until \
      you remove the star, even if --image-cache-size is exceeded.
      """)

  @Argument(help: ArgumentHelp("The items: ids, or URLs of posts or images.", valueName: "item"))
  var items: [String] = []

  @Flag(help: "Remove the stars.")
  var remove = false

  @Flag(help: "Make no requests; keep the image only if it is already saved.")
  var offline = false

  @Option(
    help: ArgumentHelp("Output format of starred items: text, or one line of JSON per item.", valueName: "text|json"))
  var format = OutputFormat.text

  @Option(help: ArgumentHelp("Not supported: a fleet's server keeps no stars.", visibility: .hidden))
  var store: String?

  @OptionGroup var trust: TrustOptions

  @OptionGroup var common: CommonOptions

  func validate() throws {
    try HistorySource.refuse(store)
    if remove, items.isEmpty { throw ValidationError("--remove needs the items to unstar.") }
  }

  func run() throws {
    let session = Session(common)
    let source = HistorySource(common, on: session)
    if items.isEmpty {
      let text = SeenText(style: session.outputStyle, names: HistorySource.names)
      session.run(Self.all(in: source.history)) { [format] images in
        Array(text.text(of: images, format).utf8)
      } written: { [format] images, done in
        if images.isEmpty, format == .text {
          session.console.note("There are no starred items in \(source.path.printable)")
        }
        done()
      }
    } else {
      let isStarred = !remove
      if isStarred { try common.checkImages() }
      let client: any HTTPClient = offline ? OfflineClient() : trust.client(on: session.loop)
      let (loader, offline) = (ImageLoader(for: common, client: client, on: session), offline)
      let starred = items.publisher.setFailureType(to: FeedStoreError.self)
        .flatMap(maxPublishers: .max(1)) { name in
          source.history.items(named: name).flatMap { found -> AnyPublisher<Line, FeedStoreError> in
            let chosen = isStarred ? Array(found.prefix(1)) : Self.starred(found)
            guard let item = chosen.first else {
              // The name isn't the first word, whose first letter would become lowercase.
              let problem =
                found.isEmpty
                ? "there is no item \(name.printable) in \(source.path.printable)"
                : "the item \(name.printable) isn't starred"
              return Just(Line(text: "", problem: "\(problem)\n", isUnknown: found.isEmpty))
                .setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
            }
            let word = isStarred ? "Starred" : "No longer starred:"
            return chosen.publisher.setFailureType(to: FeedStoreError.self)
              .flatMap(maxPublishers: .max(1)) { source.history.setStar(isStarred, $0.image.id, of: $0.address) }
              .collect()
              .flatMap(maxPublishers: .max(1)) { _ -> AnyPublisher<Line, FeedStoreError> in
                let line = Line(text: Self.text(word, chosen))
                guard isStarred else { return Just(line).setFailureType(to: FeedStoreError.self).eraseToAnyPublisher() }
                return Self.keep(item, with: loader)
                  .map { Line(text: line.text, warning: offline ? nil : $0) }
                  .setFailureType(to: FeedStoreError.self).eraseToAnyPublisher()
              }
              .eraseToAnyPublisher()
          }
        }
      session.run(starred) {
        Array($0.text.utf8)
      } written: { line, done in
        if let problem = line.problem {
          session.fail(problem)
          if line.isUnknown {
            session.console.hint("\"feed search\" lists the items with their URLs; with --format json, with their ids")
          }
        }
        if let warning = line.warning { session.console.warn(warning) }
        done()
      }
    }
    try session.finish(closing: source.store)
  }

  /// The starred items, newest first, all at once.
  static func all(in history: FeedHistory, limit: Int = 10_000) -> AnyPublisher<[SeenImage], FeedStoreError> {
    history.results(of: SeenQuery(isStarred: true, limit: limit)).prefix(1).map(\.images)
      .replaceEmpty(with: []).eraseToAnyPublisher()
  }

  /// The starred item among the found ones, in each feed that has it. The found items may be different ones, because
  /// some feeds use one image or link for all of their items.
  private static func starred(_ found: [SeenImage]) -> [SeenImage] {
    let starred = found.filter(\.isStarred)
    var feeds: Set<URL> = []
    return starred.filter {
      $0.image.post.linkText == starred[0].image.post.linkText && feeds.insert($0.address).inserted
    }
  }

  /// A line for each item; it names the feed if there are several.
  private static func text(_ word: String, _ items: [SeenImage]) -> String {
    let lines: [String] = items.map { item in
      let caption = (item.image.caption ?? item.image.addressText).printable(limit: 200)
      return "\(word) \(caption)\(items.count > 1 ? " (in \(item.address.shown))" : "")\n"
    }
    return lines.joined()
  }

  /// Loads and saves the image of an item; delivers the failure, or `nil`.
  private static func keep(_ item: SeenImage, with loader: ImageLoader) -> AnyPublisher<String?, Never> {
    loader.keep(item.image.url, of: item.address, isPrivate: item.isFromPrivateNetwork)
      .compactMap { _ in String??.none }
      .append(nil)
      .catch { Just("The starred image \(item.image.url.shown) couldn't be saved: \($0)") }
      .eraseToAnyPublisher()
  }

  private struct Line: Sendable {
    var text: String
    var problem: String?
    /// True if there is no such item.
    var isUnknown = false
    var warning: String?
  }
}
