public import FeedFormats
public import Foundation
import PlainText

/// An error in a response that arrived.
public enum InvalidData: Error, Hashable, Sendable {
  /// The status was not 200.
  case status(Int)
  /// The server wants to see that a browser asks, and sent a challenge with this status.
  case challenge(Int)
  /// The body is empty.
  case empty
  /// The body is a web page: often the login page of a public network instead of the feed.
  case webPage
  /// The body is a web page that names one feed.
  case pageOfFeed(FeedLink)
  /// The body is a web page that names several feeds: their addresses.
  case severalFeeds([String])
  /// The body is a list of feeds (OPML).
  case listOfFeeds
  /// The body is not JSON.
  case notJSON(String)
  /// The body is a feed whose end is missing: the images that arrived. They are never saved.
  case cutOff(FeedImages)
  /// The body has more values than the limit.
  case tooManyValues(limit: Int)
  /// The body has none of the accepted formats.
  case notAFeed
  /// The body exceeds a limit; `of` names the thing for people.
  case tooMuch(of: String, limit: Int)
  /// The body is JSON of another shape: where (`items[3].id`; empty for the whole) and what was expected.
  case wrongShape(at: String, String)
  /// The image address of the item at this index is not an absolute http or https address.
  case imageAddress(item: Int, String)
}

extension InvalidData: CustomStringConvertible, LocalizedError {
  /// One or two sentences for a person. Text from the server is escaped and cut.
  public var description: String {
    switch self {
    case .status(let status): Self.describe(status: status)
    case .challenge(let status):
      "The server takes this program for an unwelcome robot (status \(status), a challenge for browsers). Ask its owner to "
        + "let feed readers pass, or for another address of the feed."
    case .empty: "The server sent an empty answer where a feed was expected."
    case .webPage:
      "The server sent a web page where a feed was expected. If this network asks you to log in, open a browser first; "
        + "otherwise check the address."
    case .pageOfFeed(let link):
      "The server sent a web page where a feed was expected. The page names a feed: "
        + "\(link.address.printable(limit: 200))."
    case .severalFeeds(let addresses):
      "The server sent a web page that names \(addresses.count) feeds. Choose one: "
        + addresses.prefix(10).map { $0.printable(limit: 200) }.joined(separator: ", ") + "."
    case .listOfFeeds: "The server's answer is a list of feeds (OPML), not a feed."
    case .cutOff(let images):
      "The server's answer is cut off: its end is missing after \(images.count) \(images.count == 1 ? "image" : "images")."
    case .notJSON(let detail): "The server's answer is not JSON (\(detail.printable(limit: 200)))."
    case .tooManyValues(let limit): "The server's answer holds more than the \(limit) values that a feed may have."
    case .notAFeed:
      "The server's answer is not a feed: it is none of RSS, Atom, JSON Feed and the other formats that are known here. "
        + "Check the address."
    case .tooMuch(let what, let limit): "The server's answer has more than the \(limit) \(what) that a feed may have."
    case .wrongShape(let place, let detail):
      "The server's answer is not a feed: \(place.isEmpty ? "" : "\(place.printable(limit: 100)): ")"
        + "\(detail.printable(limit: 200))."
    case .imageAddress(let item, let address):
      "The server's answer is not a feed: items[\(item)].image is not an absolute http or https address "
        + "(\"\(address.printable(limit: 100))\")."
    }
  }

  /// The same about a file, which no server sent.
  package func description(ofFile path: String) -> String {
    let file = path.printable(limit: 200)
    switch self {
    case .empty: return "\(file) is empty."
    case .webPage: return "\(file) is a web page that names no feed."
    case .notAFeed:
      return "\(file) is not a feed: it is none of RSS, Atom, JSON Feed and the other formats that are known here."
    default:
      let (text, subject) = (description, "The server's answer")
      return text.hasPrefix(subject) ? file + text.dropFirst(subject.count) : text
    }
  }

  /// Same as ``description``.
  public var errorDescription: String? { description }

  private static func describe(status: Int) -> String {
    let advice =
      switch status {
      case 401: " It asks for a name and a password."
      case 403: " It refuses to give this program the feed."
      case 407: " It asks for a permission this program does not have."
      case 404: " There is no feed at this address. Check the address."
      case 410: " The feed is gone for good. Check the address, and whether there is another feed."
      case 429: " It wants fewer requests; try again later."
      case 503: " It is overloaded; try again later."
      case 500...599: " The trouble is the server's; try again later."
      default: ""
      }
    return "The server answered with status \(status) where 200 was expected.\(advice)"
  }
}
