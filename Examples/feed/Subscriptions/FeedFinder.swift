import FeedFormats
import FeedHTTP
import FeedStream
import Foundation
import ImageFeed
import PlainText

/// Finds the feeds at URLs, and saves them. A URL may be that of a feed, or of a page that links to feeds.
struct FeedFinder {
  /// A feed that was found.
  struct Found: Sendable {
    let address: URL
    let title: String?
    let images: Int
    let itemsWithoutImages: Int
  }

  let client: ObservedClient
  let cache: FeedCache
  let options: FeedLoader.Options
  let session: Session

  /// The feed at a URL, or the feed that the page at that URL links to. If the page links to several, the user chooses,
  /// if there is a terminal.
  ///
  /// **Failure:** the reason why there is no feed.
  func feeds(at address: URL, sending headers: [HTTPRequest.Header] = []) -> AnyPublisher<Found, RemoteFeedError> {
    // Send the fields only to the URL's own origin, not to other origins that it leads to.
    let client = client.sending(headers, to: address)
    return feed(at: address, namedBy: address, client)
      .catch { error -> AnyPublisher<Found, RemoteFeedError> in
        switch error {
        case .invalidData(.pageOfFeed(let link)):
          guard let url = Self.url(of: link) else { break }
          session.console.note("\(address.shown) is a web page; its feed is \(link.addressWithoutUser.printable)")
          return feed(at: url, namedBy: address, client)
        case .invalidData(.severalFeeds(let links)):
          guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { break }
          return choice(of: links, at: address)
            .flatMap { $0.publisher.setFailureType(to: RemoteFeedError.self) }
            .concatMap { feed(at: $0, namedBy: address, client) }
            .eraseToAnyPublisher()
        default: break
        }
        return Fail(error: error).eraseToAnyPublisher()
      }
      .eraseToAnyPublisher()
  }

  private func feed(
    at address: URL, namedBy origin: URL, _ client: AdjustedHTTPClient
  ) -> AnyPublisher<Found, RemoteFeedError> {
    // The same steps as in a load, so that a load finds the same items.
    var requests = FeedRequests(of: address, client: client, on: session.loop, options: options)
    // A URL from a page must not by itself give access to a private network.
    if address != origin { requests.origin = origin }
    let console = session.console
    return requests.images(at: address, since: FeedValidators())
      .caching(to: cache.feed(at: address)) { console.warn($0) }
      .map {
        Found(address: address, title: $0.title, images: $0.count, itemsWithoutImages: $0.omittedItems)
      }
      .eraseToAnyPublisher()
  }

  /// The feeds that the user chooses.
  private func choice(of links: [FeedLink], at address: URL) -> AnyPublisher<[URL], RemoteFeedError> {
    let feeds = links.compactMap { link in Self.url(of: link).map { (url: $0, title: link.title) } }
    let urls = feeds.map(\.url)
    let lines = feeds.enumerated().map { index, feed in
      "  \(index + 1). \(feed.url.shown)\(feed.title.map { "  \($0.printable(limit: 200))" } ?? "")\n"
    }.joined()
    let question =
      "\(address.shown) links to \(urls.count) feeds:\n\(lines)"
      + "Which feeds do you want to add? Enter numbers, such as 1 or 1 3, or \"all\": "
    return SerialWorker(on: session.loop).publisher { () -> [URL] in
      StandardError.shared.write(question)
      while let answer = readLine(), !answer.allSatisfy(\.isWhitespace) {
        let chosen = Self.chosen(answer, of: urls)
        guard chosen.isEmpty else { return chosen }
        StandardError.shared.write("Enter numbers from 1 to \(urls.count), or \"all\", or nothing to cancel: ")
      }
      return []
    }
    .setFailureType(to: RemoteFeedError.self)
    .flatMap { chosen -> AnyPublisher<[URL], RemoteFeedError> in
      chosen.isEmpty
        ? Fail(error: .invalidData(.severalFeeds(links))).eraseToAnyPublisher()
        : Just(chosen).setFailureType(to: RemoteFeedError.self).eraseToAnyPublisher()
    }
    .eraseToAnyPublisher()
  }

  private static func url(of link: FeedLink) -> URL? { URL(string: link.address).map(FeedAddress.requested) }

  /// The URLs whose numbers are in the user's reply; none if the reply contains anything else.
  static func chosen(_ answer: String, of urls: [URL]) -> [URL] {
    let words = answer.split { $0 == " " || $0 == "," }
    if words.map({ $0.lowercased() }) == ["all"] { return urls }
    let numbers = words.map { Int($0).flatMap { 0 < $0 && $0 <= urls.count ? $0 : nil } }
    return numbers.contains(nil) ? [] : numbers.compactMap { $0 }.map { urls[$0 - 1] }
  }
}
