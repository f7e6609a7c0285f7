internal import FeedStream

/// The subscriber of a server's requests, and the server's own subscription to its connections.
final class RequestSubscription: Subscription, Subscriber {
  typealias Input = Connection
  typealias Failure = Never

  @exclusivity(unchecked) private var server: HTTPServer?
  @exclusivity(unchecked) private var down: AnySubscriber<HTTPServer.Request, Never>?
  @exclusivity(unchecked) private var demand = Subscribers.Demand.none
  @exclusivity(unchecked) private var listening: (any Subscription)?
  @exclusivity(unchecked) private var hasBegun = false
  /// A connection has been asked for that has not come.
  @exclusivity(unchecked) private var isAsked = false
  @exclusivity(unchecked) private var waiting: [HTTPServer.Request] = []
  @exclusivity(unchecked) private var isServing = false

  init(_ server: HTTPServer, _ down: AnySubscriber<HTTPServer.Request, Never>) {
    self.server = server
    self.down = down
  }

  // MARK: Downstream

  func request(_ demand: Subscribers.Demand) {
    precondition(demand > .none, "HTTPServer.requests: a request for no values; ask for 1 or more")
    self.demand += demand
    serveWaiting()
    if !hasBegun, let server {
      hasBegun = true
      server.begin(self)
    }
    acceptMore()
  }

  func deliver(_ request: HTTPServer.Request) {
    guard demand > .none, waiting.isEmpty, let down else { return waiting.append(request) }
    demand -= 1
    demand += down.receive(request)
    if !waiting.isEmpty { serveWaiting() }
  }

  private func serveWaiting() {
    guard !isServing else { return }
    isServing = true
    while demand > .none, !waiting.isEmpty, let down {
      let request = waiting.removeFirst()
      // Its client may be gone.
      guard request.exchange.connection.isCurrent(request.exchange.number) else { continue }
      demand -= 1
      demand += down.receive(request)
    }
    isServing = false
  }

  func cancel() {
    let server = release()
    server?.closeConnections()
  }

  func end() {
    let down = self.down
    _ = release()
    down?.receive(completion: .finished)
  }

  func stopAccepting() {
    let listening = self.listening
    self.listening = nil
    listening?.cancel()
  }

  private func release() -> HTTPServer? {
    let server = self.server
    self.server = nil
    down = nil
    waiting = []
    stopAccepting()
    if server?.subscription === self { server?.subscription = nil }
    return server
  }

  // MARK: Connections

  func receive(subscription: any Subscription) {
    guard server != nil, listening == nil else { return subscription.cancel() }
    listening = subscription
    acceptMore()
  }

  func receive(_ connection: Connection) -> Subscribers.Demand {
    // Until it is counted: what it replaces would make room for another one.
    server?.add(connection)
    isAsked = wantsConnection
    return isAsked ? .max(1) : .none
  }

  func receive(completion: Subscribers.Completion<Never>) { listening = nil }

  private var wantsConnection: Bool {
    guard let server, listening != nil else { return false }
    guard demand > .none else { return false }
    return server.connections.count < server.limits.connections || server.longestIdle != nil
  }

  func acceptMore() {
    guard wantsConnection, !isAsked else { return }
    isAsked = true
    listening?.request(.max(1))
  }
}
