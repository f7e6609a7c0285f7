/// The reason why a request is refused: the status and the text of the response.
struct ParseFailure: Error, Equatable {
  let status: HTTPStatus
  let reason: StaticString

  init(_ status: HTTPStatus, _ reason: StaticString) {
    self.status = status
    self.reason = reason
  }

  init(_ reason: StaticString) { self.init(.badRequest, reason) }

  static func == (a: ParseFailure, b: ParseFailure) -> Bool {
    a.status == b.status && "\(a.reason)" == "\(b.reason)"
  }
}
