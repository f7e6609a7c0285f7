import FeedStream
import Foundation
import ImageFeed
import Logging
import PlainText

/// Observes requests.
protocol RequestObserver: AnyObject {
  func requestBegan()
  func requestEnded()
}

/// A client that reports every request to an observer and the log.
struct ObservedClient: HTTPClient {
  let client: any HTTPClient
  let observer: (any RequestObserver)?
  let log: Logger

  func get(_ request: HTTPRequest) -> AnyPublisher<HTTPResponse, HTTPError> {
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
}
