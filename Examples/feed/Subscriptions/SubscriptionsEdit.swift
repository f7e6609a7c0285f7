import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// `feed subscriptions rename`: gives a feed a new title.
struct SubscriptionsRename: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "rename", abstract: "Change a feed's title.")

  @Argument(help: ArgumentHelp("The feed's URL, title or number.", valueName: "feed"))
  var feed: String

  @Argument(help: ArgumentHelp("The new title.", valueName: "title"))
  var title: String

  @OptionGroup var list: SubscriptionFileOption

  @Option(help: ArgumentHelp("Not supported: a fleet's list has no titles.", visibility: .hidden))
  var store: String?

  func validate() throws {
    guard title.hasVisibleCharacter else { throw ValidationError("A title needs at least one visible character.") }
  }

  func run() throws {
    guard store == nil else { throw ValidationError("A fleet's list has no titles; leave out --store.") }
    let renamed = try list.existingFile().update { list in
      Result {
        guard let found = try FeedReference.find(feed, in: list.subscriptions) else { return false }
        list.add(SubscribedFeed(address: found.address, title: title))
        return true
      }
    }
    guard try renamed.get() else { return try FeedReference.report(missing: [feed]) }
    try StandardOutput.write("Renamed to \(plainLine(title).printable)\n")
  }
}

/// `feed subscriptions move`: moves feeds to a different folder.
struct SubscriptionsMove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Move feeds to a different folder, or out of all folders.",
    discussion: "Without --folder, moves nothing if one of the feeds isn't in the list.")

  @Argument(help: ArgumentHelp("The feeds' URLs, titles or numbers.", valueName: "feed"))
  var feeds: [String]

  @Option(
    help: ArgumentHelp(
      "The new folder; repeat the option for a nested folder. (default: no folder)", valueName: "name"))
  var folder: [String] = []

  @OptionGroup var list: SubscriptionFileOption

  @Option(help: ArgumentHelp("Not supported: a fleet's list has no folders.", visibility: .hidden))
  var store: String?

  func validate() throws {
    try checkFolders(folder)
  }

  func run() throws {
    guard store == nil else { throw ValidationError("A fleet's list has no folders; leave out --store.") }
    let result = try list.existingFile().update { list in
      Result {
        let result = try FeedReference.find(feeds, in: list.subscriptions)
        // The last word is probably a folder, as with mv.
        guard !folder.isEmpty || result.missing.isEmpty else {
          throw ValidationError(
            "\(result.missing.map(\.withoutPasswordOfURL).joined(separator: ", ")) "
              + "\(result.missing.count == 1 ? "is" : "are") not in the list, so nothing was moved. "
              + "To move feeds to a folder, write --folder before its name.")
        }
        let folders = list.subscriptions.flatMap(\.folders)
        if folder.isEmpty, feeds.count > 1, let last = feeds.last,
          folders.contains(where: { $0.caseInsensitiveCompare(last) == .orderedSame })
        {
          throw ValidationError(
            "\(last.printable) is a feed and a folder, so nothing was moved. To move feeds to the folder, write "
              + "--folder before its name. For the feed, use its URL.")
        }
        let before = list.subscriptions.map(\.address)
        let moved = result.found.map { (feed: $0, isMoved: list.move($0.address, to: folder)) }
        let after = list.subscriptions.map(\.address)
        let found = moved.map { feed, isMoved -> (feed: SubscribedFeed, isMoved: Bool, number: Int?) in
          let (old, new) = (before.firstIndex(of: feed.address), after.firstIndex(of: feed.address))
          return (feed: feed, isMoved: isMoved, number: old == new ? nil : new.map { $0 + 1 })
        }
        return (found: found, missing: result.missing)
      }
    }
    let (found, missing) = try result.get()
    let name = folder.joined(separator: " / ").printable
    let lines = found.map { feed, isMoved, number in
      let title = feed.title?.printable ?? feed.address.shown
      let rest = number.map { ", now number \($0)" } ?? ""
      if isMoved { return "Moved \(title) \(folder.isEmpty ? "out of all folders" : "to \(name)")\(rest)\n" }
      return "\(title) \(folder.isEmpty ? "isn't in a folder" : "is already in \(name)")\n"
    }
    try StandardOutput.write(lines.joined())
    try FeedReference.report(missing: missing)
  }
}

/// `feed subscriptions remove`: removes feeds.
struct SubscriptionsRemove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove feeds from the list; their saved data is kept.",
    discussion: "Numbers refer to the list as it was before the command. With --store, use URLs.")

  @Argument(help: ArgumentHelp("The feeds' URLs, titles or numbers.", valueName: "feed"))
  var feeds: [String]

  @OptionGroup var options: SubscriptionOptions

  func run() throws {
    if let fleet = options.fleet { return try fleet.remove(feeds.map { try FeedAddress.parse($0) }) }
    let result = try options.list.existingFile().update { list in
      Result {
        let result = try FeedReference.find(feeds, in: list.subscriptions)
        return (removed: result.found.filter { list.remove($0.address) }, missing: result.missing)
      }
    }
    let (removed, missing) = try result.get()
    try StandardOutput.write(removed.map { "Removed \($0.address.shown)\n" }.joined())
    try FeedReference.report(missing: missing)
  }
}
