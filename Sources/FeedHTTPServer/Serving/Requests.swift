public import FeedStream

extension Publishers {
  /// See ``HTTPServer/requests``.
  public struct Requests: Publisher, _DeliversAtHome {
    public typealias Output = ServerRequest
    public typealias Failure = Never

    let server: HTTPServer

    public func receive<S: Subscriber>(subscriber: S) where S.Input == ServerRequest, S.Failure == Never {
      guard !server.isEnding, server.subscription == nil else {
        return Empty<ServerRequest, Never>().receive(subscriber: subscriber)
      }
      let source = RequestSource(server)
      server.subscription = source
      server.wasServed = true
      source.begin(PullSubscription("HTTPServer.requests", subscriber, source))
    }
  }
}
