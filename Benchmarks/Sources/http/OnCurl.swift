// libcurl in C, and FeedStream's client, which should cost the same.
import CHTTP
import FeedStream
import Foundation
import ImageFeed

func inC(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let result = chttp_run(url.absoluteString, Int32(inFlight), count)
  precondition(result.responses == count && result.failures == 0, "C: \(result.failures) requests failed")
  return Run(count, seconds: result.seconds, processorSeconds: result.processor_seconds)
}

/// Makes requests one after another, each when the previous one has ended.
final class Asker: Subscriber {
  typealias Input = HTTPResponse
  typealias Failure = HTTPError

  private let ended: () -> Void

  init(_ ended: @escaping () -> Void) { self.ended = ended }

  func receive(subscription: any Subscription) { subscription.request(.unlimited) }

  func receive(_ response: HTTPResponse) -> Subscribers.Demand {
    precondition(response.status == 200 && !response.body.isEmpty, "The origin answered \(response.status)")
    return .none
  }

  func receive(completion: Subscribers.Completion<HTTPError>) {
    if case .failure(let error) = completion { fatalError("A request failed: \(error)") }
    ended()
  }
}

func ours(_ url: URL, _ inFlight: Int, _ count: Int) -> Run {
  let loop = EventLoop()
  defer { loop.close() }
  var configuration = CurlHTTPClient.Configuration()
  configuration.maxConnectionsPerHost = inFlight
  let client = CurlHTTPClient(on: loop, configuration)
  defer { client.close() }
  var started = 0
  func next() {
    guard started < count else { return }
    started += 1
    client.get(HTTPRequest(url)).subscribe(Asker(next))
  }
  return timed(count) {
    for _ in 0..<inFlight { next() }
    loop.run()
  }
}
