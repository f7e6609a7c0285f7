import FeedStream
import Foundation

extension HTTPClient {
  /// A client whose equal requests for whole answers (``HTTPClient/get(_:)-(HTTPRequest)``) that run at one time are one: each subscriber gets its response.
  ///
  ///     let client = CurlHTTPClient(on: loop).shareInFlight()
  ///
  /// Equal are requests for the same address with the same fields and limits. The request is cancelled when the last of its
  /// subscribers leaves. A response is not kept: who subscribes after it makes a request of its own.
  public func shareInFlight() -> SharedHTTPClient { SharedHTTPClient(self) }
}

/// See ``HTTPClient/shareInFlight()``.
public final class SharedHTTPClient: HTTPClient {
  private let client: any HTTPClient
  private let flights = Flights<HTTPRequest, HTTPResponse, HTTPError>()

  public var scheduler: (any LoopScheduler)? { client.scheduler }

  init(_ client: any HTTPClient) { self.client = client }

  /// **Demand:** the request is sent once one of its subscribers asks for the response, and the response waits for the others to
  /// ask. **Failure:** goes to all. **Cancellation:** the last subscriber's closes the transfer immediately. A request that
  /// changes something, or has a body, is not shared.
  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    guard request.method.isSafe, request.body == nil else { return client.get(request) }
    return flights.join(request) { [client] in client.get(request) }
  }

  /// A request of its own for each subscriber: a body that arrives piece by piece goes to one reader.
  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> { client.open(request) }
}
