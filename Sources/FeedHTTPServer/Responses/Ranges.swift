internal import FeedStream

/// Requests for a part of a body (RFC 9110, 14).
///
/// Only a single range is served. A request for several ranges gets the whole body, because assembling parts invites
/// abuse; a server may always ignore ranges (14.2).
enum Ranges {
  /// - Returns: true if the response is a part, reports that the part doesn't exist, or could have been a part.
  static func apply(_ response: inout ServerResponse, to head: RequestHead) -> Bool {
    let length: Int64
    switch response.body {
    case .bytes(let bytes): length = Int64(bytes.count)
    case .file(let file):
      length = Int64(file.range.count)
      response.headers["Accept-Ranges"] = "bytes"
    default: return false
    }
    guard head.asksForPart, head.method == .get else { return false }
    let request = HTTPHeaders(head)
    guard let field = request["Range"],
      RequestedRange.isCurrent(
        request["If-Range"], tag: response.headers["ETag"], modified: response.headers["Last-Modified"])
    else { return false }
    switch RequestedRange(field, of: length) {
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
}
