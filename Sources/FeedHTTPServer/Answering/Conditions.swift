/// A request's conditions on what the client has already (RFC 9110, 13).
enum Conditions {
  /// Makes it "not modified" or "precondition failed" where the request says so.
  static func apply(_ response: inout HTTPServer.Response, to head: RequestHead) {
    let tag = response.headers["ETag"]
    let modified = response.headers["Last-Modified"].flatMap(HTTPDate.seconds)
    guard tag != nil || modified != nil else { return }
    let request = HTTPServer.Headers(head)
    // In the order of 13.2.2.
    let wanted = request.values("If-Match")
    if !wanted.isEmpty {
      guard names(tag, in: wanted, isStrong: true) else { return answer(&response, .preconditionFailed) }
    } else if let date = request["If-Unmodified-Since"].flatMap(HTTPDate.seconds), let modified, modified > date {
      return answer(&response, .preconditionFailed)
    }
    let known = request.values("If-None-Match")
    if !known.isEmpty {
      if names(tag, in: known, isStrong: false) { answer(&response, .notModified) }
    } else if let date = request["If-Modified-Since"].flatMap(HTTPDate.seconds), let modified, modified <= date {
      answer(&response, .notModified)
    }
  }

  private static func answer(_ response: inout HTTPServer.Response, _ status: HTTPServer.Status) {
    response.status = status
    response.body = .none
    for name in ["Content-Type", "Content-Encoding", "Content-Language", "Content-Range"] {
      response.headers[name] = nil
    }
  }

  /// True when one of the lists names `tag`, or is `*`.
  static func names(_ tag: String?, in lists: [String], isStrong: Bool) -> Bool {
    for list in lists {
      if list == "*" { return true }
      guard let tag else { continue }
      var rest = list.utf8[...]
      while let quote = rest.firstIndex(of: UInt8(ascii: "\"")) {
        let isWeak = rest[..<quote].suffix(2).elementsEqual("W/".utf8)
        guard let end = rest[rest.index(after: quote)...].firstIndex(of: UInt8(ascii: "\"")) else { break }
        let opaque = String(rest[quote...end]) ?? ""
        if isStrong ? !isWeak && tag == opaque : strong(tag) == opaque { return true }
        rest = rest[rest.index(after: end)...]
      }
    }
    return false
  }

  private static func strong(_ tag: String) -> String { tag.hasPrefix("W/") ? String(tag.dropFirst(2)) : tag }
}
