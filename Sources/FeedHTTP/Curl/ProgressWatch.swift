import FeedStream

/// One subscription: the request's progress is read ten times per second while there is demand.
final class ProgressWatch: PullSource {
  private let client: CurlHTTPClient
  private let request: HTTPRequest
  private var exchange: WholeExchange?
  private var timer: LoopTimer?
  private var latest: HTTPProgress?
  private var hasBegun = false

  init(_ client: CurlHTTPClient, _ request: HTTPRequest) {
    self.client = client
    self.request = request
  }

  func wanted(by subscription: PullSubscription<HTTPProgress, HTTPError>) -> Bool {
    guard !hasBegun else { return false }
    hasBegun = true
    let exchange = WholeExchange(client, request)
    self.exchange = exchange
    timer = LoopTimer(on: client.loop) { [unowned self, unowned subscription] in look(for: subscription) }
    // The exchange retains this object and the subscription while it runs.
    exchange.start { [self] result in
      _ = stop()
      switch result {
      case .success(let response):
        subscription.hold(.finished(response))
        subscription.end(.finished)
      case .failure(let error): subscription.end(.failure(error))
      }
    }
    look(for: subscription)
    return false
  }

  func cancelled(_: PullSubscription<HTTPProgress, HTTPError>) { stop()?.cancel() }

  private func stop() -> WholeExchange? {
    timer?.close()
    timer = nil
    return exchange.take()
  }

  private func look(for subscription: PullSubscription<HTTPProgress, HTTPError>) {
    guard let exchange else { return }
    if let progress = exchange.progress, progress != latest, subscription.demand > .none {
      latest = progress
      subscription.deliver(progress)
    }
    timer?.start(after: .milliseconds(100))
  }
}
