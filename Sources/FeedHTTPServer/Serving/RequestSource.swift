internal import FeedStream

/// The requests of a server, for their subscriber: accepts connections while there is demand.
final class RequestSource: PullSource, Subscriber {
  typealias Input = Connection
  typealias Failure = Never

  @exclusivity(unchecked) private var server: HTTPServer?
  @exclusivity(unchecked) private var requests: PullSubscription<ServerRequest, Never>?
  @exclusivity(unchecked) private var listening: (any Subscription)?
  @exclusivity(unchecked) private var hasBegun = false
  /// True if a connection was requested and has not arrived yet.
  @exclusivity(unchecked) private var isAsked = false
  @exclusivity(unchecked) private var waiting = FIFO<ServerRequest>()

  init(_ server: HTTPServer) { self.server = server }

  // MARK: Downstream

  func begin(_ requests: PullSubscription<ServerRequest, Never>) {
    self.requests = requests
    requests.begin()
  }

  func wanted(by requests: PullSubscription<ServerRequest, Never>) -> Bool {
    while let request = waiting.popFirst() {
      // The client may have disconnected.
      guard request.exchange.connection.isCurrent(request.exchange.number) else { continue }
      requests.deliver(request)
      return true
    }
    if !hasBegun, let server {
      hasBegun = true
      server.begin(self)
    }
    acceptMore()
    return false
  }

  func deliver(_ request: ServerRequest) {
    guard let requests, requests.takesNow, waiting.isEmpty else { return waiting.append(request) }
    requests.deliver(request)
    requests.serve()
  }

  func cancelled(_: PullSubscription<ServerRequest, Never>) {
    let server = release()
    server?.closeConnections()
  }

  func end() {
    let requests = self.requests
    _ = release()
    requests?.end(.finished)
  }

  func stopAccepting() { listening.take()?.cancel() }

  private func release() -> HTTPServer? {
    let server = self.server.take()
    requests = nil
    waiting.removeAll()
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
    // `isAsked` stays true until the connection is counted. Otherwise, a connection that is closed to admit this one
    // would seem to make room for another.
    server?.add(connection)
    isAsked = wantsConnection
    return isAsked ? .max(1) : .none
  }

  func receive(completion: Subscribers.Completion<Never>) { listening = nil }

  private var wantsConnection: Bool {
    guard let server, listening != nil, let requests, requests.demand > .none else { return false }
    return server.connections.count < server.limits.connections || server.longestIdle != nil
  }

  func acceptMore() {
    guard !isAsked, wantsConnection else { return }
    isAsked = true
    listening?.request(.max(1))
  }
}
