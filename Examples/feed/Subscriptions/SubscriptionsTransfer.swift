import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// `feed subscriptions import`: adds the feeds of another list.
struct SubscriptionsImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Add feeds from an OPML file, or from a file with one URL per line.",
    discussion: """
      Folders and titles in OPML are kept. In a file of URLs, empty lines and lines that begin with # are skipped, \
      and text after a URL is ignored. The feeds themselves aren't loaded. "-" reads standard input. With --store, \
      only URLs are kept, and standard input or a pipe can't be OPML; a file of URLs may have any number of lines. If you \
      interrupt an import with --store, the added feeds stay; run the same command to continue.
      """)

  @Argument(
    help: ArgumentHelp("An OPML file, or a file with one URL per line.", valueName: "file"), completion: .file())
  var place: String

  @Option(
    help: ArgumentHelp("With --store, spread the first polls over this time. (default: none)", valueName: "duration"),
    transform: DurationArgument.init(positive:))
  var spread: DurationArgument?

  @OptionGroup var options: SubscriptionOptions

  func run() throws {
    if let fleet = options.fleet { return try fleet.importing(place, spread: spread?.duration ?? .zero) }
    guard spread == nil else { throw ValidationError("--spread needs --store.") }
    let (other, unusable) = try ImportedList.read(place)
    let added = try options.list.file().update { $0.add(other) }
    try StandardOutput.write(ImportedList.result(added, of: other.feeds.count))
    if other.isCutOff { ImportedList.reportCutOff(place == "-" ? "Standard input" : place) }
    if let skipped = ImportedList.skipped(unusable) { StandardError.shared.write(skipped) }
  }
}

/// `feed subscriptions export`: writes the list as OPML.
struct SubscriptionsExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the list as OPML, to standard output or a file.",
    discussion:
      """
      URLs are written unchanged, including passwords in them; header fields and credentials in other attributes are \
      left out. An existing file is replaced only with --force, and never if your list is missing or cut off.
      """)

  @Argument(
    help: ArgumentHelp("The file to write. (default, and \"-\": standard output)", valueName: "file"),
    completion: .file())
  var place: String?

  @Flag(help: "Replace an existing file.")
  var force = false

  @OptionGroup var list: SubscriptionFileOption

  @Option(help: ArgumentHelp("Not supported: a fleet's list can't be exported.", visibility: .hidden))
  var store: String?

  func run() throws {
    guard store == nil else {
      throw ValidationError("A fleet's list can't be exported; \"feed subscriptions list --store <url>\" prints it.")
    }
    // An empty list instead of a missing one would replace a backup.
    let file = try list.file()
    guard let all = try list.opml.map({ try SubscriptionFile.list(at: $0) }) ?? file.read() else {
      try list.failMissing(file)
    }
    // The list would lose its credentials.
    if let place, place != "-", Self.isSameFile(place, file.path) {
      throw ValidationError("\(place.printable) is the list itself; export it to a different file.")
    }
    if let place, place != "-" { try Self.checkFolder(of: place) }
    let list = all.withoutSecrets
    if all.isCutOff { ImportedList.reportCutOff(file.path) }
    if list != all {
      StandardError.shared.write("The export leaves out the list's header fields and credentials\n")
    }
    if list.subscriptions.contains(where: { $0.address.user != nil || $0.address.password != nil }) {
      StandardError.shared.write("The export contains the user names and passwords in URLs\n")
    }
    guard let place, place != "-" else { return try StandardOutput.write(list.document) }
    guard try SubscriptionFile(path: place).create(list, replacing: force && !all.isCutOff) else {
      throw ValidationError(
        "The file \(place.printable) already exists; "
          + (all.isCutOff ? "export a list that is cut off to a new file." : "use --force to replace it."))
    }
    try StandardOutput.write("Exported \(counted(list.feeds.count, "feed")) to \(place.printable)\n")
  }

  /// Refuses a folder, and a file in a folder that doesn't exist, which is probably mistyped.
  private static func checkFolder(of place: String) throws {
    if CommonOptions.isFolder(place) {
      throw ValidationError("\(place.printable) is a folder; add the name of a file.")
    }
    let folder = (place as NSString).deletingLastPathComponent
    guard !folder.isEmpty, !CommonOptions.isFolder(folder) else { return }
    throw ValidationError("There is no folder \(folder.printable).")
  }

  private static func isSameFile(_ one: String, _ other: String) -> Bool {
    var (first, second) = (stat(), stat())
    return stat(one, &first) == 0 && stat(other, &second) == 0 && first.st_dev == second.st_dev
      && first.st_ino == second.st_ino
  }
}
