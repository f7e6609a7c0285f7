public import FeedStream
public import Foundation

extension HTTPRequest {
  /// A request with any method.
  public init(_ method: HTTPMethod, _ url: URL, headers: [Header] = [], body: HTTPBody? = nil) {
    self.init(url, headers: headers)
    self.method = method
    self.body = body
  }

  /// True when sending the request twice has the same effect as sending it once, and its body can be sent again.
  public var canBeRepeated: Bool { (isRepeatable ?? method.isIdempotent) && body?.canBeSent ?? true }
}

extension HTTPClient {
  /// Sends a request, whatever its method, and delivers the complete response.
  ///
  /// **Demand, failure, cancellation:** as for ``HTTPClient/get(_:)-(HTTPRequest)``, which this calls.
  public func send(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> { get(request) }

  /// Sends `body` to `url` with POST.
  public func post(_ url: URL, _ body: HTTPBody? = nil) -> AnyPublisher<HTTPResponse, HTTPError> {
    get(HTTPRequest(.post, url, body: body))
  }

  /// Sends `body` to `url` with PUT.
  public func put(_ url: URL, _ body: HTTPBody) -> AnyPublisher<HTTPResponse, HTTPError> {
    get(HTTPRequest(.put, url, body: body))
  }

  /// Sends `body` to `url` with PATCH.
  public func patch(_ url: URL, _ body: HTTPBody) -> AnyPublisher<HTTPResponse, HTTPError> {
    get(HTTPRequest(.patch, url, body: body))
  }

  /// Sends DELETE to `url`.
  public func delete(_ url: URL) -> AnyPublisher<HTTPResponse, HTTPError> { get(HTTPRequest(.delete, url)) }

  /// Gets the status and the header fields of the resource at `url`.
  public func head(_ url: URL) -> AnyPublisher<HTTPResponse, HTTPError> { get(HTTPRequest(.head, url)) }
}

/// The error that ``FeedStream/Publisher/decode(type:decoder:)`` reports for a response that isn't successful.
public struct HTTPStatusError: Error, Sendable, CustomStringConvertible {
  /// The response, whose status doesn't indicate success (200 to 299).
  public var response: HTTPResponse

  public init(_ response: HTTPResponse) { self.response = response }

  public var description: String {
    let phrase = HTTPStatus.phrase(response.status)
    return "status \(response.status)" + (phrase.isEmpty ? "" : " (\(phrase))")
  }
}

extension Publisher where Output == HTTPResponse {
  /// Decodes the body of a successful response.
  ///
  ///     client.get(url).decode(type: [Todo].self, decoder: JSONDecoder())
  ///
  /// **Demand, cancellation:** pass through. **Failure:** upstream's, ``HTTPStatusError`` for a status other than 200
  /// to 299, or the decoder's.
  public func decode<Item: Decodable, Coder: TopLevelDecoder>(
    type: Item.Type, decoder: Coder
  ) -> AnyPublisher<Item, any Error> where Coder.Input == Data {
    tryMap { response in
      guard 200..<300 ~= response.status else { throw HTTPStatusError(response) }
      return try decoder.decode(type, from: response.body)
    }
    .eraseToAnyPublisher()
  }
}
