import FeedStream

/// The publisher of one request's progress.
struct HTTPEvents: Publisher {
  typealias Output = HTTPProgress
  typealias Failure = HTTPError

  let client: CurlHTTPClient
  let request: HTTPRequest

  func receive<S: Subscriber>(subscriber: S) where S.Input == HTTPProgress, S.Failure == HTTPError {
    let events = HTTPEventsSubscription(
      client, request, value: subscriber.receive(_:), completion: subscriber.receive(completion:))
    subscriber.receive(subscription: events)
  }
}

/// One subscription: a request that is looked at ten times a second, as long as somebody asks for more.
private final class HTTPEventsSubscription: Subscription {
  private let client: CurlHTTPClient
  private let request: HTTPRequest
  private let value: (HTTPProgress) -> Subscribers.Demand
  private let completion: (Subscribers.Completion<HTTPError>) -> Void
  private var demand = Subscribers.Demand.none
  private var exchange: WholeExchange?
  private var timer: LoopTimer?
  private var latest: HTTPProgress?
  /// The answer, until it is asked for.
  private var response: HTTPResponse?
  private var hasBegun = false
  /// True while the answer is delivered, unless that cancels.
  private var isDelivering = false

  init(
    _ client: CurlHTTPClient, _ request: HTTPRequest, value: @escaping (HTTPProgress) -> Subscribers.Demand,
    completion: @escaping (Subscribers.Completion<HTTPError>) -> Void
  ) {
    self.client = client
    self.request = request
    self.value = value
    self.completion = completion
  }

  func request(_ demand: Subscribers.Demand) {
    precondition(
      demand > 0, "HTTP: request(.none) asks for nothing; request at least one value, or do not call request")
    self.demand += demand
    if response != nil { return deliverResponse() }
    guard !hasBegun else { return }
    hasBegun = true
    // The exchange keeps this subscription while it runs.
    let receiver = HTTPReceiver(value: { [self] in response = $0 }, completion: { [self] in end($0) })
    let exchange = WholeExchange(client, request, receiver)
    self.exchange = exchange
    timer = LoopTimer(on: client.loop) { [unowned self] in look() }
    exchange.request(.max(1))
    look()
  }

  func cancel() {
    hasBegun = true
    response = nil
    isDelivering = false
    stop()?.cancel()
  }

  private func stop() -> WholeExchange? {
    let exchange = exchange
    self.exchange = nil
    timer?.close()
    timer = nil
    return exchange
  }

  private func look() {
    guard let exchange else { return }
    if let progress = exchange.progress, progress != latest, demand > 0 {
      latest = progress
      demand -= 1
      demand += value(progress)
    }
    timer?.start(after: .milliseconds(100))
  }

  private func end(_ ending: Subscribers.Completion<HTTPError>) {
    _ = stop()
    guard response != nil else { return completion(ending) }
    if demand > 0 { deliverResponse() }
  }

  private func deliverResponse() {
    guard let response else { return }
    self.response = nil
    isDelivering = true
    _ = value(.finished(response))
    guard isDelivering else { return }
    isDelivering = false
    completion(.finished)
  }
}
