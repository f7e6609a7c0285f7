import FeedStream
import Foundation

extension HTTPClient {
  /// A client whose equal requests for whole answers (``HTTPClient/get(_:)-(HTTPRequest)``) that run at one time are one: each subscriber gets its answer.
  ///
  ///     let client = CurlHTTPClient(on: loop).shareInFlight()
  ///
  /// Equal are requests for the same address with the same fields and limits. The request is cancelled when the last of its
  /// subscribers leaves. An answer is not kept: who subscribes after it makes a request of its own.
  public func shareInFlight() -> SharedHTTPClient { SharedHTTPClient(self) }
}

/// See ``HTTPClient/shareInFlight()``.
public final class SharedHTTPClient: HTTPClient {
  private let client: any HTTPClient
  private var running: [URL: [(request: HTTPRequest, answer: AnyPublisher<HTTPResponse, HTTPError>)]] = [:]

  init(_ client: any HTTPClient) { self.client = client }

  /// **Demand:** the request is sent once one of its subscribers asks for the answer, and the answer waits for the others to
  /// ask. **Failure:** goes to all. **Cancellation:** the last subscriber's closes the transfer immediately.
  public func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    Deferred { [self] in answer(to: request) }.eraseToAnyPublisher()
  }

  /// A request of its own for each subscriber: a body that arrives piece by piece goes to one reader.
  public func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> { client.open(request) }

  private func answer(to request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    if let same = running[request.url]?.first(where: { $0.request == request }) { return same.answer }
    let answer = client.get(request)
      .handleEvents(
        receiveCompletion: { [weak self] _ in self?.forget(request) },
        receiveCancel: { [weak self] in self?.forget(request) }
      )
      .share(replay: 1)
      .eraseToAnyPublisher()
    running[request.url, default: []].append((request, answer))
    return answer
  }

  /// Before its subscribers know that it has ended: one of them may ask again.
  private func forget(_ request: HTTPRequest) {
    running[request.url]?.removeAll { $0.request == request }
    if running[request.url]?.isEmpty == true { running[request.url] = nil }
  }
}
