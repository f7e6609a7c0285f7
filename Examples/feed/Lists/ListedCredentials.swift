import FeedHTTP
import FeedStream
import Foundation
import ImageFeed

extension RequestOptions {
  /// The options for a feed in the list.
  init(of feed: SubscribedFeed) {
    self.init()
    (header, user, netrc, netrcFile) = (feed.headers, feed.user, feed.usesNetrc, nil)
  }

  /// The options without those for a single feed (see ``check(for:)``).
  var withoutFieldsForOne: RequestOptions {
    var options = self
    (options.header, options.user) = ([], nil)
    return options
  }

  /// The fields to send for a feed: those from the command line, or else those from the list.
  func headers(for feed: SubscribedFeed) -> [HTTPRequest.Header] {
    let own = headers(for: feed.address)
    return own.isEmpty ? RequestOptions(of: feed).headers(for: feed.address) : own
  }
}

extension [SubscribedFeed] {
  /// Warns about fields and credentials in a list that can't be sent. They may be secret, so no warning repeats them.
  func warnOfUnusableCredentials(on console: Console) {
    for feed in self {
      if feed.headers.contains(where: { RequestOptions.field($0) == nil }) {
        console.warn("In the list, feed:header of \(feed.address.shown) has a line that isn't sent; write Name: value.")
      }
      if let user = feed.user, !user.contains(":") {
        console.warn("In the list, feed:user of \(feed.address.shown) isn't sent; write name:password.")
      }
    }
    // All feeds with feed:netrc use the same file.
    guard let feed = first(where: \.usesNetrc) else { return }
    do {
      _ = try RequestOptions(of: feed).entries()
    } catch {
      console.warn("In the list, feed:netrc has no effect: \(error)")
    }
  }
}

/// A client with the credentials in a list: each feed's fields are sent only with requests for that feed.
struct ListedHTTPClient: HTTPClient {
  private let client: any HTTPClient
  private let clients: [URL: AdjustedHTTPClient]

  init(_ client: any HTTPClient, _ feeds: [SubscribedFeed]) {
    self.client = client
    var clients: [URL: AdjustedHTTPClient] = [:]
    for feed in feeds {
      let headers = RequestOptions(of: feed).headers(for: feed.address)
      if !headers.isEmpty { clients[feed.address] = client.sending(headers, to: feed.address) }
    }
    self.clients = clients
  }

  /// The client for a request. A request for a page or an image has its feed as the origin.
  private func client(for request: HTTPRequest) -> any HTTPClient {
    clients[request.origin ?? request.url] ?? client
  }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { client(for: request).get(request) }

  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    client(for: request).open(request)
  }

  func events(for request: HTTPRequest) -> AnyPublisher<HTTPProgress, HTTPError> {
    client(for: request).events(for: request)
  }
}
