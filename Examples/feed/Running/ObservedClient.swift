import FeedStream
import Foundation
import ImageFeed
import Logging
import PlainText

/// Called for each request.
struct RequestObserver {
  let requestBegan: () -> Void
  let requestEnded: () -> Void
}

/// A client that reports every request to an observer and the log.
struct ObservedClient: HTTPClient {
  let client: any HTTPClient
  var observer: RequestObserver?
  let log: Logger

  /// False if nothing observes requests, which then aren't wrapped, so that polling an unchanged feed takes little
  /// time.
  private var isObserving: Bool { observer != nil || log.logLevel <= .debug }

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
    guard isObserving else { return client.get(request) }
    let place = request.url.shown
    return client.get(request)
      .handleEvents(
        receiveSubscription: { [log, observer] _ in
          log.debug("request", metadata: ["url": "\(place)"])
          observer?.requestBegan()
        },
        receiveOutput: { [log] response in
          log.debug("response", metadata: ["status": "\(response.status)", "bytes": "\(response.body.count)"])
        },
        receiveCompletion: { [log, observer] completion in
          if case .failure(let error) = completion {
            log.debug("request failed", metadata: ["error": "\("\(error)".printable)"])
          }
          observer?.requestEnded()
        }
      )
      .eraseToAnyPublisher()
  }

  func open(_ request: HTTPRequest) -> AnyPublisher<StreamingResponse, HTTPError> {
    guard isObserving else { return client.open(request) }
    let place = request.url.shown
    let transfer = Transfer(log: log, observer: observer)
    return client.open(request)
      .handleEvents(
        receiveSubscription: { [log] _ in
          log.debug("request", metadata: ["url": "\(place)"])
          transfer.begin()
        },
        receiveCompletion: { if case .failure = $0 { transfer.end($0) } },
        receiveCancel: { transfer.end() }
      )
      .map { [log] response in
        log.debug("response", metadata: ["status": "\(response.status)"])
        var response = response
        response.body = response.body
          .handleEvents(
            receiveOutput: { transfer.bytes += $0.count },
            receiveCompletion: { transfer.end($0) },
            receiveCancel: { transfer.end() }
          )
          .eraseToAnyPublisher()
        return response
      }
      .eraseToAnyPublisher()
  }
}

/// One request whose body is read while it arrives. Reports its completion once, even if the body is never read.
private final class Transfer {
  var bytes = 0
  private let log: Logger
  private var observer: RequestObserver?

  init(log: Logger, observer: RequestObserver?) {
    self.log = log
    self.observer = observer
  }

  deinit { end() }

  func begin() { observer?.requestBegan() }

  func end(_ completion: Subscribers.Completion<HTTPError>? = nil) {
    switch completion {
    case .finished?: log.debug("response complete", metadata: ["bytes": "\(bytes)"])
    case .failure(let error)?: log.debug("request failed", metadata: ["error": "\("\(error)".printable)"])
    case nil: break
    }
    observer.take()?.requestEnded()
  }
}
