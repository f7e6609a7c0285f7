internal import FeedStream

/// A request's connection.
protocol RequestConnection: AnyObject {
  var peer: SocketAddress { get }
  var scheduler: any LoopScheduler { get }
  /// The time of ``scheduler``, without reference counting.
  var now: StreamInstant { get }
  /// True if the request with this number is being served.
  func isCurrent(_ number: Int) -> Bool
  /// Retains the work that determines the response until it completes.
  func keep(_ deciding: AnyCancellable, _ number: Int)
  /// - Parameter id: the request's id, to be sent with the response.
  func respond(_ response: ServerResponse, to head: RequestHead, _ number: Int, id: String?)
  /// Reports an error from the handler, or in its response.
  func report(_ error: any Error, of head: RequestHead?)
  func read(_ exchange: Exchange, into subscriber: AnySubscriber<Chunk, RequestBodyError>)
  func trailers(of exchange: Exchange) -> HTTPHeaders
  func close()
}

/// An error that is a response, such as a status that a handler throws.
protocol ResponseError: Error {
  var response: ServerResponse { get }
}

extension HTTPStatus: ResponseError {
  var response: ServerResponse { ServerResponse(self) }
}

/// A request and its state. It retains its connection, and reports an error if it is released without a response.
final class Exchange {
  let head: RequestHead
  let connection: any RequestConnection
  /// The number of this request on the connection.
  let number: Int
  @exclusivity(unchecked) private var hasResponded = false
  /// See ``ServerRequest/id``.
  @exclusivity(unchecked) var id: String?
  /// See ``ServerRequest/route``.
  @exclusivity(unchecked) var route: String?
  /// See ``HTTPRoutes/usesProblems``.
  @exclusivity(unchecked) var usesProblems = false
  /// The middleware of each group of the route, then the handler.
  @exclusivity(unchecked) var steps: [HTTPHandler] = []

  init(_ head: RequestHead, _ connection: any RequestConnection, _ number: Int) {
    self.head = head
    self.connection = connection
    self.number = number
  }

  deinit {
    guard !hasResponded, connection.isCurrent(number) else { return }
    connection.report(ServerResponseError.missing, of: head)
    connection.respond(ServerResponse(.internalServerError), to: head, number, id: id)
  }

  var now: StreamInstant { connection.now }

  func report(_ error: any Error) { if !hasResponded { connection.report(error, of: head) } }

  /// Responds with the status or the problem that was thrown, or with 500.
  func fail(_ error: any Error) {
    if let error = error as? any ResponseError { return respond(error.response) }
    guard !hasResponded else { return }
    connection.report(error, of: head)
    respond(ServerResponse(.internalServerError))
  }

  func respond(_ response: ServerResponse) {
    guard !hasResponded else { return }
    hasResponded = true
    connection.respond(response, to: head, number, id: id)
  }

  func respond(_ publisher: AnyPublisher<ServerResponse, any Error>) {
    guard !hasResponded, connection.isCurrent(number) else { return }
    var isOver = false
    let waiting = publisher.first().sink { [self] completion in
      isOver = true
      switch completion {
      // A value, if any, came earlier and is the response; without one, this fails.
      case .finished: fail(ServerResponseError.missing)
      case .failure(let error): fail(error)
      }
    } receiveValue: { [self] in
      isOver = true
      respond($0)
    }
    if !isOver { connection.keep(waiting, number) }
  }
}
