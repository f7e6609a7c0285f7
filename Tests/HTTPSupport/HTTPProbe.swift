import FeedHTTP
import FeedStream
import Foundation

/// A subscriber that keeps what arrives and asks when it is told to.
final class HTTPProbe: Subscriber {
  typealias Input = HTTPResponse
  typealias Failure = HTTPError

  private(set) var responses: [HTTPResponse] = []
  private(set) var completion: Subscribers.Completion<HTTPError>?
  private(set) var subscription: (any Subscription)?
  /// Called when the answer or the error has arrived.
  var onEnd: (() -> Void)?
  /// Called with the answer, before the completion.
  var onValue: (() -> Void)?
  private let demand: Subscribers.Demand

  init(demand: Subscribers.Demand = .unlimited) { self.demand = demand }

  var response: HTTPResponse? { responses.first }
  var error: HTTPError? { if case .failure(let error) = completion { error } else { nil } }
  var isFinished: Bool { completion == .finished }
  var heardNothing: Bool { responses.isEmpty && completion == nil }

  func receive(subscription: any Subscription) {
    self.subscription = subscription
    if demand > 0 { subscription.request(demand) }
  }

  func receive(_ input: HTTPResponse) -> Subscribers.Demand {
    responses.append(input)
    onValue?()
    return .none
  }

  func receive(completion: Subscribers.Completion<HTTPError>) {
    self.completion = completion
    subscription = nil
    let onEnd = onEnd
    forget()
    onEnd?()
  }

  func cancel() {
    subscription?.cancel()
    subscription = nil
    forget()
  }

  /// Tests' closures hold probes.
  private func forget() {
    onEnd = nil
    onValue = nil
  }
}

/// A client on a loop of its own, both of which go when the test ends.
final class HTTPBench {
  let loop = EventLoop()
  let client: CurlHTTPClient

  init(_ configure: (inout CurlHTTPClient.Configuration) -> Void = { _ in }) {
    var configuration = CurlHTTPClient.Configuration()
    // Whoever runs the tests may have a proxy, which cannot reach them.
    configuration.usesProxies = false
    configure(&configuration)
    client = CurlHTTPClient(on: loop, configuration)
  }

  deinit {
    client.close()
    loop.close()
  }

  /// Subscribes to a request's answer.
  @discardableResult func get(_ request: HTTPRequest, demand: Subscribers.Demand = .unlimited) -> HTTPProbe {
    let probe = HTTPProbe(demand: demand)
    client.get(request).subscribe(probe)
    return probe
  }

  /// Gets and runs the loop until nothing is left to do.
  func run(_ request: HTTPRequest) -> HTTPProbe {
    let probe = get(request)
    loop.run()
    return probe
  }

  func run(_ url: URL) -> HTTPProbe { run(HTTPRequest(url)) }
}

/// Carries what is confined to one thread through another, which does not touch it.
// @unchecked: handed to `EventLoop.execute` as it is, and opened on the loop only.
struct Sealed<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}

// A failed expectation prints what it has; reflection would reach values that cannot be copied, and trap.
extension HTTPBench: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}

// A failed expectation prints what it has; reflection would reach values that cannot be copied, and trap.
extension HTTPProbe: CustomReflectable {
  var customMirror: Mirror { Mirror(self, children: []) }
}
