import ArgumentParser
import Foundation
import ImageFeed
import PlainText

/// A feed in the list, as the user refers to it: by its URL, its title, or its number in `feed subscriptions list`.
enum FeedReference {
  /// The feed that the argument refers to; `nil` if the feed isn't in the list.
  ///
  /// - Throws: `ValidationError` if several feeds have the title.
  static func find(_ text: String, in feeds: [SubscribedFeed]) throws -> SubscribedFeed? {
    if let address = try? FeedAddress.parse(text) {
      let requested = FeedAddress.requested(address)
      let feed =
        feeds.first { $0.address == address } ?? feeds.first { FeedAddress.requested($0.address) == requested }
      if let feed { return feed }
    }
    let named = feeds.filter { $0.title?.caseInsensitiveCompare(text) == .orderedSame }
    guard named.count < 2 else {
      throw ValidationError(
        "\(named.count) feeds are called \(text.printable). Use the feed's number, or one of these URLs: "
          + named.map(\.address.shown).joined(separator: ", "))
    }
    if let feed = named.first { return feed }
    guard let number = Int(text), 0 < number, number <= feeds.count else { return nil }
    return feeds[number - 1]
  }

  /// The feeds that the arguments refer to, and the arguments that match no feed.
  static func find(_ texts: [String], in feeds: [SubscribedFeed]) throws -> (found: [SubscribedFeed], missing: [String])
  {
    var (found, missing): ([SubscribedFeed], [String]) = ([], [])
    for text in texts {
      guard let feed = try find(text, in: feeds) else {
        missing.append(text)
        continue
      }
      if !found.contains(feed) { found.append(feed) }
    }
    return (found, missing)
  }

  /// Reports the arguments that match no feed, and exits with status 1.
  static func report(missing: [String]) throws {
    for text in missing { StandardError.shared.write("feed: \(text.withoutPasswordOfURL) is not in the list\n") }
    if !missing.isEmpty { throw ExitCode.failure }
  }
}

extension String {
  /// The text for display, without the password if it may be a URL.
  var withoutPasswordOfURL: String { (contains("/") ? withoutPossiblePassword : self).printable }
}
