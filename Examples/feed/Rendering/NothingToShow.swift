import Foundation
import ImageFeed
import PlainText

/// The reason why there is no feed to show.
struct NothingToShow: Error {
  let address: URL
  var error: FeedError
  let maxAge: Duration?
  /// The choice on the command line between the server and the cache.
  var choice: ReadChoice?
  /// The age of the saved feed in a cache that was not to be asked.
  var savedAge: Duration?

  func with(savedAge: Duration) -> NothingToShow {
    var copy = self
    copy.savedAge = savedAge
    return copy
  }

  func with(cache: CacheMiss) -> NothingToShow {
    var copy = self
    copy.error.cache = cache
    return copy
  }
}

extension NothingToShow {
  /// Explains what happened, on both sides, and what to try.
  func text(_ style: Style) -> String {
    """
    \(style.bad("No feed to show")) for \(address.shown)
      server: \(serverLine)
      cache:  \(cacheLine.printable)
      try:    \(advice)

    """
  }

  var serverLine: String {
    if case .notAsked = error.remote { return "not asked (--offline)" }
    return "\(error.remote)".printable
  }

  var cacheLine: String {
    switch error.cache {
    case .notAsked:
      "not asked (\(choice == .refresh ? "--refresh" : "--fallback connectivity")); "
        + (savedAge.map { "a feed saved \($0.ago) is there" } ?? "nothing is saved for this address")
    case .empty: "nothing is saved for this address"
    case .expired(let age, let fate):
      "the feed saved \(age.ago) has expired (--max-age \(maxAge?.text ?? "none"))\(Self.words(for: fate))"
    case .failed(let error): "\(error)"
    }
  }

  private static func words(for fate: CacheMiss.Fate) -> String {
    switch fate {
    case .deleted: " and is deleted"
    case .kept: ""
    case .undeletable(let error): ". \(error)"
    }
  }

  var advice: String {
    if case .invalidData(.severalFeeds(let addresses)) = error.remote {
      return addresses.prefix(10).map { "feed load \($0.printable)" }.joined(separator: "\n          ")
    }
    if case .invalidData(.listOfFeeds) = error.remote {
      return "save it as a file; then feed load --opml <file>, or feed subscriptions import <file>"
    }
    return adviceOnCache
  }

  private var adviceOnServer: String {
    switch error.remote {
    case .invalidData(.status(401)): "again with --user, --netrc or --header"
    case .invalidData(.status(404)), .invalidData(.status(410)): "again with the feed's address"
    case .invalidData(.status): "again later"
    default: "again when the server can be reached"
    }
  }

  private var adviceOnCache: String {
    switch error.cache {
    case .notAsked where savedAge == nil: "again when the server is well"
    case .notAsked: choice == .refresh ? "without --refresh for the saved feed" : "--fallback any shows the saved feed"
    case .empty where choice == .offline: "without --offline; the feed is then saved"
    case .empty: "\(adviceOnServer); the feed is then saved for times like this"
    case .expired(_, .deleted):
      "again when the server can be reached; a longer --max-age, or \"none\" for any age, keeps a saved feed for such "
        + "times"
    case .expired: "a longer --max-age, or \"none\" for any age, shows the saved feed"
    case .failed: "again when the server can be reached, or another file with --cache"
    }
  }
}
