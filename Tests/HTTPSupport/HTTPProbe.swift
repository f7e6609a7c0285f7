import FeedHTTP
import FeedStream
import Foundation

/// A subscriber that records events, and requests values when its test tells it to.
final class HTTPProbe: Subscriber {
  typealias Input = HTTPResponse
  typealias Failure = HTTPError

  private(set) var responses: [HTTPResponse] = []
  private(set) var completion: Subscribers.Completion<HTTPError>?
  private(set) var subscription: (any Subscription)?
  /// Called when the response or the error has arrived.
  var onEnd: (() -> Void)?
  /// Called when the response has arrived, before the completion.
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

  /// Releases the closures, because tests' closures retain probes.
  private func forget() {
    onEnd = nil
    onValue = nil
  }
}

/// A client on its own loop; both are released when the test ends.
final class HTTPBench {
  let loop = EventLoop()
  let client: CurlHTTPClient

  init(_ configure: (inout CurlHTTPClient.Configuration) -> Void = { _ in }) {
    var configuration = CurlHTTPClient.Configuration()
    // The user's environment may name a proxy, which can't reach these servers.
    configuration.usesProxies = false
    configure(&configuration)
    client = CurlHTTPClient(on: loop, configuration)
  }

  deinit {
    client.close()
    loop.close()
  }

  /// Subscribes to a request's response.
  @discardableResult func get(_ request: HTTPRequest, demand: Subscribers.Demand = .unlimited) -> HTTPProbe {
    let probe = HTTPProbe(demand: demand)
    client.get(request).subscribe(probe)
    return probe
  }

  /// Sends the request, and runs the loop until nothing is left to do.
  func run(_ request: HTTPRequest) -> HTTPProbe {
    let probe = get(request)
    loop.run()
    return probe
  }

  func run(_ url: URL) -> HTTPProbe { run(HTTPRequest(url)) }
}

/// Calls `attempt` with a timeout, and with twice the timeout each time until it returns true. On a busy machine, a
/// short timeout may end before the phase that a test is about; a long one would make the test slow.
func withGrowingTimeout(
  from first: StreamInstant.Stride = .milliseconds(50), _ attempt: (StreamInstant.Stride) -> Bool
) {
  var timeout = first
  while !attempt(timeout), timeout < .seconds(20) { timeout += timeout }
}

/// Carries a value that is confined to one thread through another thread, which doesn't use it.
// @unchecked: passed to `EventLoop.execute` unopened, and opened only on the loop.
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
