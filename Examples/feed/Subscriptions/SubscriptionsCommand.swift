import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// `feed subscriptions`: keeps the list of feeds that `load` and `watch` show when no address is given.
struct SubscriptionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions",
    abstract: "Keep a list of feeds, for when no address is given.",
    discussion: """
      The list is a file of OPML beside the cache: feeds.opml beside feeds.db. With --store it is a fleet's, which feed work \
      polls.
      """,
    subcommands: [
      SubscriptionsList.self, SubscriptionsAdd.self, SubscriptionsRemove.self, SubscriptionsImport.self,
      SubscriptionsExport.self,
    ],
    defaultSubcommand: SubscriptionsList.self)
}

/// The list that the commands are about.
struct SubscriptionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The cache file that the list is beside. (default: feedstream/feeds.db in $XDG_CACHE_HOME or ~/.cache)",
      valueName: "file"), completion: .file())
  var cache: String?

  @Option(
    help: ArgumentHelp(
      "The server that a fleet shares, such as redis://host, instead of a file.", valueName: "address"),
    transform: StoreArgument.init(parsing:))
  var store: StoreArgument?

  func validate() throws {
    if cache?.isEmpty == true { throw ValidationError("--cache needs the path of a file.") }
    if cache != nil, store != nil { throw ValidationError("--cache and --store exclude each other.") }
  }

  var fleet: FleetSubscriptions? { store.map { FleetSubscriptions(store: $0) } }
  var file: SubscriptionFile { SubscriptionFile(besideCacheAt: cache ?? CommonOptions.defaultCachePath()) }
}

/// `feed subscriptions list`: prints the feeds, one a line.
struct SubscriptionsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Print the feeds of the list.")

  @OptionGroup var options: SubscriptionOptions

  @Option(
    help: ArgumentHelp("How the list is written: for people, or one line of JSON a feed.", valueName: "text|json"))
  var format = OutputFormat.text

  func run() throws {
    if let fleet = options.fleet { return try fleet.list(format) }
    let feeds = try options.file.read()?.subscriptions ?? []
    if feeds.isEmpty, format == .text {
      StandardError.shared.write("There are no subscriptions in \(options.file.path.printable)\n")
    }
    try StandardOutput.write(feeds.map(format == .json ? json : text).joined())
  }

  private func text(_ feed: SubscribedFeed) -> String {
    var line = feed.address.shown
    if let title = feed.title { line += "  \(title.printable)" }
    if !feed.folders.isEmpty { line += "  [\(feed.folders.joined(separator: " / ").printable)]" }
    if let interval = feed.interval { line += "  every \(interval.text)" }
    return line + "\n"
  }

  private func json(_ feed: SubscribedFeed) -> String {
    var members = ["\"url\":\(FeedJSON.quoted(feed.address.shown))"]
    if let title = feed.title { members.append("\"title\":\(FeedJSON.quoted(title))") }
    if !feed.folders.isEmpty {
      members.append("\"folders\":[\(feed.folders.map(FeedJSON.quoted).joined(separator: ","))]")
    }
    if let interval = feed.interval { members.append("\"every\":\(FeedJSON.quoted(interval.text))") }
    return "{\(members.joined(separator: ","))}\n"
  }
}

/// `feed subscriptions add`: adds a feed, or changes one.
struct SubscriptionsAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add feeds to the list, or change how they are kept.")

  @Argument(help: ArgumentHelp("The feeds' addresses, http or https.", valueName: "url"), transform: FeedAddress.parse)
  var addresses: [URL]

  @Option(help: ArgumentHelp("What to call the feed.", valueName: "text"))
  var title: String?

  @Option(help: ArgumentHelp("The folder to put it in; repeat it for a folder within a folder.", valueName: "name"))
  var folder: [String] = []

  @Option(
    help: ArgumentHelp("How often watch looks at it, such as 15m.", valueName: "d"),
    transform: DurationArgument.init(positive:))
  var every: DurationArgument?

  @OptionGroup var options: SubscriptionOptions

  func run() throws {
    if let fleet = options.fleet {
      guard title == nil, folder.isEmpty, every == nil else {
        throw ValidationError("A fleet keeps addresses alone; --title, --folder and --every are for a file.")
      }
      return try fleet.add(addresses)
    }
    let added = try options.file.update { list in
      addresses.filter {
        list.add(SubscribedFeed(address: $0, title: title, folders: folder, interval: every?.duration))
      }
    }
    try StandardOutput.write(
      addresses.map { "\(added.contains($0) ? "Added" : "Changed") \($0.shown)\n" }.joined())
  }
}

/// `feed subscriptions remove`: removes feeds.
struct SubscriptionsRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove feeds from the list; what is saved of them stays.")

  @Argument(help: ArgumentHelp("The feeds' addresses.", valueName: "url"), transform: FeedAddress.parse)
  var addresses: [URL]

  @OptionGroup var options: SubscriptionOptions

  func run() throws {
    if let fleet = options.fleet { return try fleet.remove(addresses) }
    let removed = try options.file.update { list in addresses.filter { list.remove($0) } }
    try StandardOutput.write(removed.map { "Removed \($0.shown)\n" }.joined())
    let missing = addresses.filter { !removed.contains($0) }
    for address in missing { StandardError.shared.write("\(address.shown) is not in the list\n") }
    if !missing.isEmpty { throw ExitCode.failure }
  }
}

/// `feed subscriptions import`: adds the feeds of another list.
struct SubscriptionsImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Add the feeds of an OPML file, with their folders and titles.",
    discussion: """
      With --store the file may also have one address a line, however many, and "-" is standard input; what was added stays when \
      it is interrupted, and the same command goes on.
      """)

  @Argument(help: ArgumentHelp("The OPML file.", valueName: "file"), completion: .file())
  var place: String

  @Option(
    help: ArgumentHelp("Spread the first polls over so long, with --store. (default: none)", valueName: "d"),
    transform: DurationArgument.init(positive:))
  var spread: DurationArgument?

  @OptionGroup var options: SubscriptionOptions

  func run() throws {
    if let fleet = options.fleet { return try fleet.importing(place, spread: spread?.duration ?? .zero) }
    guard spread == nil else { throw ValidationError("--spread is for --store.") }
    let other = try MistakenPlace.list(at: place)
    let total = other.feeds.count
    let added = try options.file.update { $0.add(other) }
    var text = "Added \(added) of \(total) \(total == 1 ? "feed" : "feeds")"
    if added < total { text += "; the others were there" }
    try StandardOutput.write(text + "\n")
    if other.isCutOff { StandardError.shared.write("\(place.printable) is cut off: its end is missing\n") }
    let unusable = other.unusableFeeds
    if unusable > 0 {
      StandardError.shared.write(
        "\(unusable) \(unusable == 1 ? "entry has" : "entries have") no http or https address and "
          + "\(unusable == 1 ? "is" : "are") left out\n")
    }
  }
}

/// `feed subscriptions export`: writes the list as OPML.
struct SubscriptionsExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the list as OPML, to standard output or a file.",
    discussion: "Addresses are written as they are, with the passwords that stand in them.")

  @Argument(
    help: ArgumentHelp("The file to write; standard output without it.", valueName: "file"), completion: .file())
  var place: String?

  @OptionGroup var options: SubscriptionOptions

  func run() throws {
    guard options.fleet == nil else { throw ValidationError("feed subscriptions list --store prints a fleet's list.") }
    let list = try options.file.read() ?? OPML(title: "Subscriptions")
    guard let place else { return try StandardOutput.write(list.document) }
    try SubscriptionFile(path: place).update { $0 = list }
  }
}

/// Standard output of a command without a loop.
enum StandardOutput {
  static func write(_ text: String) throws {
    signal(SIGPIPE, SIG_IGN)
    guard !text.isEmpty else { return }
    do {
      try FileHandle.standardOutput.write(contentsOf: Data(text.utf8))
    } catch {
      let code = errno
      guard code != EPIPE, code != EBADF else { throw ExitCode(128 + SIGPIPE) }
      StandardError.shared.write("Cannot write to standard output: \(String(cString: strerror(code)))\n")
      throw ExitCode.failure
    }
  }
}
