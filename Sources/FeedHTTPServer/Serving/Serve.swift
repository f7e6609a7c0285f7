public import FeedStream

extension HTTPServer {
  /// Responds to every request with the result of `handler`.
  ///
  ///     let serving = server.serve { .text("You asked for \($0.path)\n") }
  ///
  /// An `HTTPStatus` or ``ProblemDetails`` that `handler` throws becomes the response; any other error becomes status
  /// 500 and is reported to ``onError``.
  ///
  /// - Parameters:
  ///   - handler: computes the response to each request.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that closes the connections when cancelled or released; keep it.
  public func serve(
    _ handler: @escaping (ServerRequest) throws -> ServerResponse, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable {
    requests.sink(
      receiveValue: { request in
        do {
          request.respond(try handler(request))
        } catch {
          request.exchange.fail(error)
        }
      }, file: file, line: line)
  }

  /// Responds to every request with the first value of the publisher that `handler` returns, which is cancelled when
  /// the connection breaks. A client that closes only its sending side may still be waiting, so the publisher continues
  /// in that case.
  ///
  /// - Parameters:
  ///   - handler: makes a publisher of the response to each request.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that closes the connections when cancelled or released; keep it.
  public func serve<P: Publisher>(
    _ handler: @escaping (ServerRequest) -> P, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable where P.Output == ServerResponse {
    requests.sink(receiveValue: { request in request.respond(handler(request)) }, file: file, line: line)
  }

  /// Responds to every request using the matching route.
  ///
  /// - Parameters:
  ///   - routes: the routes.
  ///   - file: identifies the call in warnings, together with `line`.
  ///   - line: the line in the file.
  /// - Returns: a cancellable that closes the connections when cancelled or released; keep it.
  public func serve(
    _ routes: HTTPRoutes, file: StaticString = #fileID, line: UInt = #line
  ) -> AnyCancellable {
    bodyBytes = routes.limitsBodies ? { routes.bodyBytes($0, $1) } : nil
    let handler = routes.handler()
    return requests.sink(receiveValue: { request in request.respond(handler(request)) }, file: file, line: line)
  }
}
