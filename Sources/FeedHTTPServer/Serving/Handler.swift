public import FeedStream

extension HTTPServer {
  /// The result of a handler: a response, or a publisher whose first value is the response.
  public enum Reply {
    case now(Response)
    case later(AnyPublisher<Response, any Error>)

    /// The first value of `publisher`.
    public static func first<P: Publisher>(of publisher: P) -> Reply where P.Output == Response {
      .later(publisher.eraseFailureType().eraseToAnyPublisher())
    }

    /// This reply with `change` applied to its response.
    public func map(_ change: @escaping (inout Response) -> Void) -> Reply {
      switch self {
      case .now(var response):
        change(&response)
        return .now(response)
      case .later(let publisher):
        let changed = publisher.map { response in
          var response = response
          change(&response)
          return response
        }
        return .later(changed.eraseToAnyPublisher())
      }
    }
  }

  /// A function that responds to a request.
  public typealias Handler = (Request) throws -> Reply

  /// A function that takes the next handler and returns a new one, which may examine the request before the next
  /// handler does, change the response, or respond itself.
  ///
  ///     let unlessClosed = HTTPServer.Middleware { next in
  ///       { request in isClosed ? .now(.init(.serviceUnavailable)) : try next(request) }
  ///     }
  ///     routes.use(unlessClosed)
  public struct Middleware {
    let wrap: (@escaping Handler) -> Handler

    public init(_ wrap: @escaping (_ next: @escaping Handler) -> Handler) { self.wrap = wrap }
  }
}

extension HTTPServer.Request {
  /// Sends the reply's response, now or once its publisher delivers it.
  func respond(_ reply: HTTPServer.Reply) {
    switch reply {
    case .now(let response): exchange.respond(response)
    case .later(let publisher): exchange.respond(publisher)
    }
  }

  /// The scheduler on which the server runs.
  public var scheduler: any LoopScheduler { exchange.connection.server.scheduler }
}
