import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// The feeds that a command line selects.
struct FeedSelection {
  let subscriptions: [SubscribedFeed]
  /// True if the selection is a single URL, whose feed is shown by itself.
  let isSingle: Bool
  /// The list that some of the feeds come from, if there is one.
  var list: FollowedList?
  /// The names to show, which change with the list.
  let shownNames: FeedNames

  init(subscriptions: [SubscribedFeed], isSingle: Bool, list: FollowedList? = nil) {
    self.subscriptions = subscriptions
    self.isSingle = isSingle
    self.list = list
    shownNames = FeedNames(Self.names(of: subscriptions))
  }

  var addresses: [URL] { subscriptions.map(\.address) }

  /// The names of the feeds in their list.
  var names: [URL: String] { Self.names(of: subscriptions) }

  static func names(of feeds: [SubscribedFeed]) -> [URL: String] {
    Dictionary(feeds.compactMap { one in one.title.map { (one.address, $0) } }) { first, _ in first }
  }
}

extension FeedSelection {
  /// The given URLs and the feeds of a list, without duplicates; if there are neither, the subscriptions.
  ///
  /// - Parameters:
  ///   - opml: the path of a list to add to the URLs.
  ///   - folder: the path of the folder whose feeds are selected, outermost folder first; empty for any folder.
  init(addresses: [URL], opml: String?, folder: [String]) throws {
    let given = addresses.map { SubscribedFeed(address: $0) }
    guard opml != nil || addresses.isEmpty else {
      guard folder.isEmpty else {
        throw ValidationError("--folder selects from a list of feeds; leave out the URLs, or add --opml.")
      }
      self.init(subscriptions: Self.unique(given), isSingle: false)
      return
    }
    let (file, list): (SubscriptionFile, OPML)
    if let opml {
      (file, list) = (SubscriptionFile(path: opml), try SubscriptionFile.list(at: opml))
    } else {
      file = try SubscriptionPlace.file()
      list = try file.read() ?? OPML()
      guard !list.subscriptions.isEmpty else {
        throw ValidationError(
          "No URL was given, and there are no subscriptions. Pass an http or https URL, or start a list with "
            + "\"feed subscriptions add <url>\" or \"feed subscriptions import <file>\".")
      }
    }
    let followed = FollowedList(file: file, known: list, given: given, folder: folder)
    let feeds = followed.feeds(of: list)
    guard !feeds.isEmpty else { throw ValidationError(Self.refusal(of: list, folder, named: opml)) }
    self.init(subscriptions: feeds, isSingle: false, list: followed)
  }

  static func unique(_ feeds: [SubscribedFeed]) -> [SubscribedFeed] {
    var known: Set<URL> = []
    return feeds.filter { known.insert($0.address).inserted }
  }

  private static func refusal(of list: OPML, _ folder: [String], named opml: String?) -> String {
    let feeds = list.subscriptions
    guard !folder.isEmpty, !feeds.isEmpty else {
      return "\(opml?.printable ?? "The list") has no feed with an http or https URL."
    }
    var known: Set<[String]> = []
    let folders = feeds.map(\.folders).filter { !$0.isEmpty && known.insert($0).inserted }
    let names = folders.prefix(20).map { $0.joined(separator: " / ") }.joined(separator: ", ")
    let more = folders.count > 20 ? ", and \(folders.count - 20) more" : ""
    return "There are no feeds in the folder \(folder.joined(separator: " / ").printable). "
      + (folders.isEmpty ? "The list has no folders." : "The folders are: \(names.printable)\(more).")
  }
}

extension FeedListOptions {
  /// The given URLs and those of `--opml`, without duplicates; if there are neither, the subscriptions.
  func selection() throws -> FeedSelection {
    if addresses.count == 1, opml == nil, folder.isEmpty {
      return FeedSelection(subscriptions: [SubscribedFeed(address: addresses[0])], isSingle: true)
    }
    return try FeedSelection(addresses: addresses, opml: opml, folder: folder)
  }
}
