import ArgumentParser
import FeedFormats
import Foundation
import ImageFeed
import PlainText

/// The feeds that a command line means.
struct FeedSelection {
  let subscriptions: [SubscribedFeed]
  /// True for one address and nothing else: the feed is shown by itself.
  let isSingle: Bool

  var addresses: [URL] { subscriptions.map(\.address) }

  /// The names of the feeds in the list that they came from.
  var names: [URL: String] {
    Dictionary(subscriptions.compactMap { one in one.title.map { (one.address, $0) } }) { first, _ in first }
  }
}

extension LoadOptions {
  /// The addresses given and those of `--opml`, each once; the subscriptions when there are neither.
  func selection() throws -> FeedSelection {
    if addresses.count == 1, opml == nil {
      return FeedSelection(subscriptions: [SubscribedFeed(address: addresses[0])], isSingle: true)
    }
    var feeds = addresses.map { SubscribedFeed(address: $0) }
    if let opml {
      feeds += try MistakenPlace.list(at: opml).subscriptions
    } else if addresses.isEmpty {
      let file = SubscriptionFile(besideCacheAt: common.cachePath)
      feeds = try file.read()?.subscriptions ?? []
      if feeds.isEmpty {
        throw ValidationError(
          "No address is given, and there are no subscriptions. Give an http or https address, or begin a list with "
            + "\"feed subscriptions add <url>\" or \"feed subscriptions import <file>\".")
      }
    }
    guard !feeds.isEmpty else {
      throw ValidationError("\(opml ?? "The list") names no feed with an http or https address.")
    }
    var known: Set<URL> = []
    return FeedSelection(subscriptions: feeds.filter { known.insert($0.address).inserted }, isSingle: false)
  }
}
