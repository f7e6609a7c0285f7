/// A request's conditions, such as those about the client's stored response (RFC 9110, 13).
enum Conditions {
  /// Changes the response to "not modified" or "precondition failed" if the request's conditions require that.
  static func apply(_ response: inout ServerResponse, to head: RequestHead) {
    let tag = response.headers["ETag"]
    let modified = response.headers["Last-Modified"].flatMap { HTTPDate.seconds($0) }
    guard tag != nil || modified != nil else { return }
    let request = HTTPHeaders(head)
    // The conditions are evaluated in the order of section 13.2.2.
    let wanted = request.values(of: "If-Match")
    if !wanted.isEmpty {
      guard EntityTag.names(tag, in: wanted, strongly: true) else { return replace(&response, by: .preconditionFailed) }
    } else if let date = request["If-Unmodified-Since"].flatMap({ HTTPDate.seconds($0) }), let modified, modified > date
    {
      return replace(&response, by: .preconditionFailed)
    }
    let known = request.values(of: "If-None-Match")
    if !known.isEmpty {
      if EntityTag.names(tag, in: known, strongly: false) { replace(&response, by: .notModified) }
    } else if let date = request["If-Modified-Since"].flatMap({ HTTPDate.seconds($0) }), let modified, modified <= date
    {
      replace(&response, by: .notModified)
    }
  }

  private static func replace(_ response: inout ServerResponse, by status: HTTPStatus) {
    response.status = status
    response.body = .none
    for name in ["Content-Type", "Content-Encoding", "Content-Language", "Content-Range"] {
      response.headers[name] = nil
    }
  }
}
