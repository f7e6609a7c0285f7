import FeedFormats
import FeedHTTP
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
  /// The ``RequestOptions/placeholders`` of the request.
  var placeholders: [String] = []

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
  /// Explains the failures of the server and the cache, and gives a hint.
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
    case .expired(let age) where age < .zero:
      "the saved feed is dated \(age.ago), because this machine's clock is wrong, or was"
    case .expired(let age): "the feed saved \(age.ago) has expired (--max-age \(maxAge?.text ?? "none"))"
    case .failed(let error): "\(error)"
    }
  }

  /// The advice that follows the explanation.
  var hint: String {
    if case .invalidData(.severalFeeds(let links)) = error.remote {
      return Self.choice(of: links, at: address, for: "feed load", with: placeholders)
    }
    if case .connectivity(let error) = error.remote, let hint = error.hintOnTrust { return hint }
    if case .invalidData(.listOfFeeds) = error.remote {
      return "save the list as a file; then run \"feed load --opml <file>\" or \"feed subscriptions import <file>\""
    }
    return adviceOnCache
  }

  /// The advice to run a command with one of a page's URLs, each quoted for a shell: a page chooses its URLs.
  ///
  /// - Parameter placeholders: options for the page's own origin.
  static func choice(of links: [FeedLink], at page: URL, for command: String, with placeholders: [String]) -> String {
    let user = "--user name:password"
    let commands = links.prefix(10).map { link -> String in
      let address = link.addressWithoutUser
      var words = [command, address.shellWord]
      if let url = URL(string: address), url.hasSameOrigin(as: page) { words += placeholders }
      if address != link.address, !words.contains(user) { words.append(user) }
      return "  " + words.joined(separator: " ")
    }
    return "choose one:\n" + commands.joined(separator: "\n")
  }

  private var adviceOnServer: String {
    switch error.remote {
    case .invalidData(.status(401)): "retry with --user, --netrc or --header"
    case .invalidData(.status(404)), .invalidData(.status(410)): "look for the feed's current URL on its site"
    case .invalidData(.status(407)): "add the proxy's user and password to its URL in the environment (https_proxy)"
    case .invalidData(.status(let status)) where (400..<500).contains(status) && ![408, 425, 429].contains(status):
      "check the URL, or retry later"
    case .invalidData(.status): "retry later"
    case .invalidData(.challenge): "retry with a different URL for the feed, if there is one"
    case .invalidData:
      "run \"\((["feed get --include", address.shown.shellWord] + placeholders).joined(separator: " ")) | less\" "
        + "to see what the server sends, or retry later"
    case .connectivity(let error): error.hint
    case .notDue: "run \"feed explain \(address.shown.shellWord)\", or request the feed now with \"feed load\""
    case .unchanged, .notAsked: "retry later"
    }
  }

  /// True if the saved feed, which was not used, could be shown.
  private var isSavedFeedValid: Bool {
    guard let savedAge else { return false }
    return maxAge.map { savedAge < $0 && savedAge >= .zero - FeedCachePolicy.clockTolerance } ?? true
  }

  private var adviceOnCache: String {
    switch error.cache {
    case .notAsked where !isSavedFeedValid: adviceOnServer
    case .notAsked:
      choice == .refresh ? "leave out --refresh to show the saved feed" : "use --fallback any to show the saved feed"
    case .empty where choice == .offline: "leave out --offline to load and save the feed"
    case .empty: adviceOnServer
    case .expired(let age) where age < .zero: "check the clock, or use --max-age none to show the saved feed"
    case .expired: "use a longer --max-age, or \"none\", to show the saved feed"
    case .failed where error.remote == .notAsked: "choose another file with --cache"
    case .failed: "\(adviceOnServer), or choose another file with --cache"
    }
  }
}

extension HTTPError {
  /// The advice for a response that did not arrive completely.
  fileprivate var hint: String {
    switch kind {
    case .nameResolution, .connect, .send, .receive, .truncated, .timedOut: "retry when the server is reachable"
    case .invalidRequest where cause.hasPrefix("the proxy"): "check the proxy"
    case .invalidRequest, .notHTTP, .tooManyRedirects, .redirectRefused: "check the URL"
    case .privateNetwork: "if you trust the private URL, load it directly"
    case .tls, .encoding, .tooLarge, .headersTooLarge: "retry later, or tell the site's owner"
    case .body, .hostIsClosed, .resources, .closed: "retry later"
    }
  }
}
