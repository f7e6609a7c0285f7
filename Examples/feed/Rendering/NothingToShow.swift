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
  /// The age of the saved feed, if there is one but the cache was not used.
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
  /// Explains the failures of server and cache, and gives a hint.
  func text(_ style: Style) -> String {
    """
    \(style.bad("feed: no feed to show")) for \(address.shown)
      server: \(serverLine)
      cache:  \(cacheLine.printable)
    hint: \(hint)

    """
  }

  var serverLine: String {
    if case .notAsked = error.remote { return "not requested" }
    return "\(error.remote)".printable
  }

  var cacheLine: String {
    switch error.cache {
    case .notAsked:
      "not used (\(choice == .refresh ? "--refresh" : "--fallback connectivity")); "
        + (savedAge.map { "it has a feed saved \($0.ago)" } ?? "nothing is saved for this URL")
    case .empty: "nothing is saved for this URL"
    case .expired(let age, let fate):
      "the feed saved \(age.ago) has expired (--max-age \(maxAge?.text ?? "none"))\(Self.words(for: fate))"
    case .failed(let error): "\(error)"
    }
  }

  private static func words(for fate: CacheMiss.Fate) -> String {
    switch fate {
    case .deleted: " and was deleted"
    case .kept: ""
    case .undeletable(let error): ". \(error)"
    }
  }

  /// The advice that follows.
  var hint: String {
    if case .invalidData(.severalFeeds(let addresses)) = error.remote {
      return "choose one:\n" + addresses.prefix(10).map { "  feed load \($0.printable)" }.joined(separator: "\n")
    }
    if case .connectivity(let error) = error.remote, let hint = error.hintOnTrust { return hint }
    if case .invalidData(.listOfFeeds) = error.remote {
      return "save it as a file; then run \"feed load --opml <file>\" or \"feed subscriptions import <file>\""
    }
    return adviceOnCache
  }

  private var adviceOnServer: String {
    switch error.remote {
    case .invalidData(.status(401)): "retry with --user, --netrc or --header"
    case .invalidData(.status(404)), .invalidData(.status(410)): "retry with the feed's URL"
    case .invalidData(.status): "retry later"
    case .invalidData: "run \"feed inspect \(address.shown)\" to see what the server sends, or retry later"
    default: "retry when the server is reachable"
    }
  }

  private var adviceOnCache: String {
    switch error.cache {
    case .notAsked where savedAge == nil: adviceOnServer
    case .notAsked:
      choice == .refresh ? "leave out --refresh to show the saved feed" : "use --fallback any to show the saved feed"
    case .empty where choice == .offline: "leave out --offline to load and save the feed"
    case .empty: adviceOnServer
    case .expired(_, .deleted):
      "\(adviceOnServer); use a longer --max-age, or \"none\", to keep saved feeds for longer"
    case .expired: "use a longer --max-age, or \"none\", to show the saved feed"
    case .failed where error.remote == .notAsked: "choose another file with --cache"
    case .failed: "\(adviceOnServer), or choose another file with --cache"
    }
  }
}
