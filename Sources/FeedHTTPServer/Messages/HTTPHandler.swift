public import FeedStream

/// The result of a handler: a response, or a publisher whose first value is the response.
public enum HTTPReply {
  case now(ServerResponse)
  case later(AnyPublisher<ServerResponse, any Error>)

  /// The first value of `publisher`.
  public static func first<P: Publisher>(of publisher: P) -> HTTPReply where P.Output == ServerResponse {
    .later(publisher.eraseFailureType().eraseToAnyPublisher())
  }

  /// This reply with `change` applied to its response.
  public func map(_ change: @escaping (inout ServerResponse) -> Void) -> HTTPReply {
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
public typealias HTTPHandler = (ServerRequest) throws -> HTTPReply

/// A function that takes the next handler and returns a new one, which may examine the request before the next
/// handler does, change the response, or respond itself.
///
///     let unlessClosed = HTTPMiddleware { next in
///       { request in isClosed ? .now(.init(.serviceUnavailable)) : try next(request) }
///     }
///     routes.use(unlessClosed)
public struct HTTPMiddleware {
  let wrap: (@escaping HTTPHandler) -> HTTPHandler

  public init(_ wrap: @escaping (_ next: @escaping HTTPHandler) -> HTTPHandler) { self.wrap = wrap }
}
