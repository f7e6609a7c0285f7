public import FeedFormats
import FeedHTTP
public import Foundation
import PlainText

/// An error in a response that arrived.
public enum InvalidData: Error, Hashable, Sendable {
  /// The status isn't 200.
  case status(Int)
  /// The server sent a challenge for browsers with this status.
  case challenge(Int)
  /// The body is empty.
  case empty
  /// The body is a web page: often the login page of a public network instead of the feed.
  case webPage
  /// The body is a web page that links to one feed.
  case pageOfFeed(FeedLink)
  /// The body is a web page that links to several feeds.
  case severalFeeds([FeedLink])
  /// The body is a list of feeds (OPML).
  case listOfFeeds
  /// The body is not JSON.
  case notJSON(String)
  /// The body is a feed whose end is missing. The value contains the images that arrived, which are never saved.
  case cutOff(FeedImages)
  /// The body has more values than the limit.
  case tooManyValues(limit: Int)
  /// The body is in none of the accepted formats.
  case notAFeed
  /// The body exceeds a limit; `of` is the name of what is counted.
  case tooMuch(of: String, limit: Int)
  /// The body is JSON with the wrong structure. The values are the location of the error (`items[3].id`; empty for the
  /// whole document) and the expected structure.
  case wrongShape(at: String, String)
  /// The image URL of the item at this index is not an absolute http or https URL.
  case imageAddress(item: Int, String)
}

extension InvalidData: CustomStringConvertible, LocalizedError {
  /// One or two sentences for display. Text from the server is escaped and shortened.
  public var description: String {
    switch self {
    case .status(let status): Self.describe(status: status)
    case .challenge(let status):
      "This server asks visitors to prove that they are human (status \(status)), and sent a challenge for browsers instead of "
        + "the feed. Feed readers can't pass it. Ask the site's owner to allow feed readers, or to give you another feed URL."
    case .empty: "The server sent an empty response where a feed was expected."
    case .webPage:
      "The server sent a web page where a feed was expected. If this network asks you to log in, open a browser first; "
        + "otherwise check the URL."
    case .pageOfFeed(let link):
      "The server sent a web page where a feed was expected. The page links to a feed: "
        + "\(link.addressWithoutUser.printable(limit: 200))."
    case .severalFeeds(let links):
      "The server sent a web page that links to \(links.count) feeds. Choose one: "
        + links.prefix(10).map { $0.addressWithoutUser.printable(limit: 200) }.joined(separator: ", ") + "."
    case .listOfFeeds: "The server's response is a list of feeds (OPML), not a feed."
    case .cutOff(let images):
      "The server's response is cut off: its end is missing after \(images.count) \(images.count == 1 ? "image" : "images")."
    case .notJSON(let detail): "The server's response is not JSON (\(detail.printable(limit: 200)))."
    case .tooManyValues(let limit): "The server's response has more than \(limit) values, the limit for a feed."
    case .notAFeed:
      "The server's response is not a feed: it is not RSS, Atom, JSON Feed or another supported format. "
        + "Check the URL."
    case .tooMuch("bytes", let limit):
      "The server's response is larger than \(limit.byteSize), the limit for a feed."
    case .tooMuch(let what, let limit) where what.hasPrefix("bytes"):
      "The server's response has more than \(limit.byteSize)\(what.dropFirst(5)), the limit for a feed."
    case .tooMuch(let what, let limit): "The server's response has more than \(limit) \(what), the limit for a feed."
    case .wrongShape(let place, let detail):
      "The server's response is not a feed: \(place.isEmpty ? "" : "\(place.printable(limit: 100)): ")"
        + "\(detail.printable(limit: 200))."
    case .imageAddress(let item, let address):
      "The server's response is not a feed: items[\(item)].image is not an absolute http or https URL "
        + "(\"\(address.printable(limit: 100))\")."
    }
  }

  /// The same description, for a file instead of a server's response.
  package func description(ofFile path: String) -> String {
    let file = path.printable(limit: 200)
    switch self {
    case .empty: return "\(file) is empty."
    case .webPage: return "\(file) is a web page that doesn't link to a feed."
    case .notAFeed:
      return "\(file) is not a feed: it is not RSS, Atom, JSON Feed or another supported format."
    default:
      let (text, subject) = (description, "The server's response")
      return text.hasPrefix(subject) ? file + text.dropFirst(subject.count) : text
    }
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }

  private static func describe(status: Int) -> String {
    let advice =
      switch status {
      case 401: ": it requires a login"
      case 403: ": it refuses access to the feed"
      case 407: ": a proxy requires authentication"
      case 404: " (not found): check the URL"
      case 410: " (gone): the feed was removed permanently; look for a new feed on the site"
      case 429: ": there were too many requests; try again later"
      case 503: ": it is unavailable at the moment; try again later"
      case 500...599: ": it has a problem; try again later"
      default: ""
      }
    return "The server responded with status \(status)\(advice)."
  }
}

extension FeedLink {
  /// The URL for display, without the user and the password that it may have from the page's own URL.
  package var addressWithoutUser: String {
    guard let url = URL(string: address), url.user != nil else { return address }
    return url.withoutUser.absoluteString
  }
}
