internal import FeedStream

/// Requests for a part of a body (RFC 9110, 14).
///
/// One range is served. A request for several gets the whole: assembling parts is what ranges are abused for, and a server
/// may always leave them out (14.2).
enum Ranges {
  /// - Returns: true when the response is a part, or says that there is none such, or could have been a part.
  static func apply(_ response: inout HTTPServer.Response, to head: RequestHead) -> Bool {
    let length: Int64
    switch response.body {
    case .bytes(let bytes): length = Int64(bytes.count)
    case .file(let file):
      length = Int64(file.range.count)
      response.headers["Accept-Ranges"] = "bytes"
    default: return false
    }
    guard head.asksForPart, head.method == .get else { return false }
    let request = HTTPServer.Headers(head)
    guard let field = request["Range"], isCurrent(request["If-Range"], response) else { return false }
    switch range(field, of: length) {
    case .whole: return false
    case .none:
      response.status = .rangeNotSatisfiable
      response.headers["Content-Range"] = "bytes */\(length)"
      response.headers["Content-Type"] = nil
      response.body = .none
    case .part(let part):
      response.status = .partialContent
      response.headers["Content-Range"] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
      switch response.body {
      case .bytes(let bytes): response.body = .bytes(bytes[Int(part.lowerBound)..<Int(part.upperBound)])
      case .file(var file):
        let start = file.range.lowerBound
        file.range = start + part.lowerBound..<start + part.upperBound
        response.body = .file(file)
      default: break
      }
    }
    return true
  }

  /// The part is of the same version as the client's other parts (13.1.5).
  private static func isCurrent(_ condition: String?, _ response: HTTPServer.Response) -> Bool {
    guard let condition else { return true }
    if condition.hasPrefix("\"") { return condition == response.headers["ETag"] }
    guard let date = HTTPDate.seconds(condition) else { return false }
    return date == response.headers["Last-Modified"].flatMap(HTTPDate.seconds)
  }

  enum Wanted: Equatable {
    case whole
    case part(Range<Int64>)
    /// Beyond the end.
    case none
  }

  static func range(_ field: String, of length: Int64) -> Wanted {
    guard field.utf8.count <= 256, let equals = field.firstIndex(of: "="),
      HTTPServer.Headers.isSame(String(field[..<equals]), "bytes")
    else { return .whole }
    let ends = field[field.index(after: equals)...].split(separator: "-", omittingEmptySubsequences: false)
    // Anything else is several, or none; what is not understood is left out.
    guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]) else { return .whole }
    switch (first, last) {
    case (nil, nil): return .whole
    case (nil, let count?): return count == 0 || length == 0 ? .none : .part(max(0, length - count)..<length)
    case (let start?, let last):
      if let last, last < start { return .whole }
      return start >= length ? .none : .part(start..<min(last.map { $0 + 1 } ?? length, length))
    }
  }

  /// A number, nothing for nothing, and `nil` for anything else. One beyond any file's length is as good as the largest.
  private static func number(_ text: Substring) -> Int64?? {
    var digits = text.utf8[...]
    while let first = digits.first, first == 0x20 || first == 0x09 { digits.removeFirst() }
    while let last = digits.last, last == 0x20 || last == 0x09 { digits.removeLast() }
    if digits.isEmpty { return .some(nil) }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    // One more is a number, too.
    return .some(min(Int64(Substring(digits)) ?? .max, .max - 1))
  }
}
