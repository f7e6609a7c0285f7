import FeedStream
import Foundation

extension HTTPClient {
  /// A client that never sends equal requests for whole responses (``HTTPClient/get(_:)-(HTTPRequest)``) at the same
  /// time: it sends one, and delivers the response to each subscriber.
  ///
  ///     let client = CurlHTTPClient(on: loop).shareInFlight()
  ///
  /// Requests are equal if all of their properties are equal, such as URL, fields and limits. The request is cancelled
  /// when its last subscriber cancels. A response is not kept: a later subscriber makes a new request.
  public func shareInFlight() -> SharedHTTPClient { SharedHTTPClient(self) }
}

/// See ``HTTPClient/shareInFlight()``.
public final class SharedHTTPClient: HTTPClient {
  private let client: any HTTPClient
  private let flights = Flights<HTTPRequest, HTTPResponse, HTTPError>()

  public var scheduler: (any LoopScheduler)? { client.scheduler }

  init(_ client: any HTTPClient) { self.client = client }

  /// **Demand:** the request is sent once one of its subscribers requests the response, and the response waits until
  /// the others request it. **Failure:** goes to all subscribers. **Cancellation:** when the last subscriber cancels,
  /// the transfer is closed immediately. A request that changes something, or has a body, is not shared.
  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    guard request.method.isSafe, request.body == nil else { return client.get(request) }
    return flights.join(request) { [client] in client.get(request) }
  }

  /// A separate request for each subscriber: a body that arrives piece by piece goes to one reader.
  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> { client.open(request) }
}
