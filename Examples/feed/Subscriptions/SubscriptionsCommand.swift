import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// `feed subscriptions`: manages the list of feeds that commands use without a URL.
struct SubscriptionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions",
    abstract: "Manage your list of feeds, which other commands use by default.",
    discussion: """
      The list is an OPML file that you may edit: subscriptions.opml in $XDG_CONFIG_HOME/feedstream or \
      ~/.config/feedstream. To use a different file, pass --opml; to use the list of a fleet, which "feed work" polls, \
      pass --store. A running serve or watch command notices changes.
      """,
    subcommands: [
      SubscriptionsList.self, SubscriptionsAdd.self, SubscriptionsRename.self, SubscriptionsMove.self,
      SubscriptionsRemove.self, SubscriptionsImport.self, SubscriptionsExport.self,
    ],
    defaultSubcommand: SubscriptionsList.self)
}

/// The options for the list that a command uses: a file, or a fleet's list.
struct SubscriptionOptions: ParsableArguments {
  @OptionGroup var list: SubscriptionFileOption

  @Option(
    help: ArgumentHelp("Use the feed list of the fleet on this server, such as redis://host.", valueName: "url"),
    transform: StoreArgument.init(parsing:))
  var store: StoreArgument?

  func validate() throws {
    if list.opml != nil, store != nil { throw ValidationError("Use --opml or --store, not both.") }
  }

  var fleet: FleetSubscriptions? { store.map { FleetSubscriptions(store: $0) } }
}

/// The option for the list's file.
struct SubscriptionFileOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The OPML file that contains your feed list. (default: feedstream/subscriptions.opml in $XDG_CONFIG_HOME or "
        + "~/.config)", valueName: "file"),
    completion: .file())
  var opml: String?

  func validate() throws {
    if opml?.isEmpty == true { throw ValidationError("--opml needs the path of a file.") }
  }

  /// The list's file.
  func file() throws -> SubscriptionFile {
    if let opml { return SubscriptionFile(path: opml) }
    return try SubscriptionPlace.file()
  }

  /// The list's file, which must exist: a change would create the folders of a mistyped path.
  func existingFile() throws -> SubscriptionFile {
    let file = try file()
    guard FileManager.default.fileExists(atPath: file.path) else { try failMissing(file) }
    return file
  }

  /// Fails because the list's file doesn't exist.
  func failMissing(_ file: SubscriptionFile) throws -> Never {
    if let opml { throw ValidationError("There is no file \(opml).") }
    StandardError.shared.write("feed: there are no subscriptions in \(file.path.printable)\n")
    throw ExitCode.failure
  }
}

/// Throws an error if the name of a folder, as given with `--folder`, is invisible.
func checkFolders(_ names: [String]) throws {
  if names.contains(where: { !plainLine($0).hasVisibleCharacter }) {
    throw ValidationError("A folder's name needs at least one visible character; for no folder, leave out --folder.")
  }
}

/// `feed subscriptions list`: prints the feeds, one per line.
struct SubscriptionsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Print the feeds in the list.",
    discussion:
      "The rename, move and remove commands accept a feed's title or number instead of its URL. "
      + "A fleet's list (--store) has only URLs."
  )

  @OptionGroup var options: SubscriptionOptions

  @Option(
    help: ArgumentHelp("Output format: text, or one line of JSON per feed.", valueName: "text|json"))
  var format = OutputFormat.text

  func run() throws {
    if let fleet = options.fleet { return try fleet.list(format) }
    let file = try options.list.file()
    let list = try file.read()
    let feeds = list?.subscriptions ?? []
    if list?.isCutOff == true { ImportedList.reportCutOff(file.path) }
    if feeds.isEmpty, format == .text {
      StandardError.shared.write("There are no subscriptions in \(file.path.printable)\n")
    }
    let width = String(feeds.count).count
    let lines = feeds.enumerated().map { index, feed in
      let number = String(index + 1)
      let margin = String(repeating: " ", count: width - number.count)
      return format == .json ? json(feed) : "\(margin)\(number). \(text(feed))"
    }
    try StandardOutput.write(lines.joined())
  }

  private func text(_ feed: SubscribedFeed) -> String {
    var line = feed.address.shown
    if let title = feed.title { line += "  \(title.printable)" }
    if !feed.folders.isEmpty { line += "  [\(feed.folders.joined(separator: " / ").printable)]" }
    if let interval = feed.interval { line += "  every \(interval.text)" }
    return line + "\n"
  }

  private func json(_ feed: SubscribedFeed) -> String {
    var members = ["\"version\":1", "\"url\":\(FeedJSON.quoted(feed.address.shown))"]
    if let title = feed.title { members.append("\"title\":\(FeedJSON.quoted(title))") }
    if !feed.folders.isEmpty {
      members.append("\"folders\":[\(feed.folders.map(FeedJSON.quoted).joined(separator: ","))]")
    }
    if let interval = feed.interval { members.append("\"every\":\(FeedJSON.quoted(interval.text))") }
    return "{\(members.joined(separator: ","))}\n"
  }
}
