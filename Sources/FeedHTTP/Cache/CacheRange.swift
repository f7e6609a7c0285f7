import Foundation

/// Parts of bodies that are stored whole (RFC 9110, section 14). Parts themselves are not stored.
extension CacheRequest {
  /// True if the requested part may come from the store.
  var asksForPart: Bool { isBypassing && !mayNotStore }

  /// The response from the store, cut to the requested part if there is one. `nil` if only the server can respond: with
  /// several parts, a part beyond the end, or a part of an encoded body.
  func answer(from stored: HTTPStoredResponse, at now: Date) -> HTTPResponse? {
    var response = evaluated(stored, at: now)
    guard asksForPart, response.status == 200 else { return response }
    // Offsets in a decoded body differ from the server's.
    guard response.headers["Content-Encoding"] == nil, case .part(let part) = part(of: response.body.count) else {
      return nil
    }
    guard isOfVersion(stored.head) else { return response }
    let count = response.body.count
    let start = response.body.startIndex
    response.status = 206
    response.body = response.body.subdata(in: start + Int(part.lowerBound)..<start + Int(part.upperBound))
    response.headers = response.headers.keeping { $0.lowercased() != "content-length" }
      .adding("Content-Length", "\(part.count)")
      .adding("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
    return response
  }

  /// The single part that is requested from a body of `count` bytes.
  private func part(of count: Int) -> RequestedRange {
    let fields = request.values(of: "Range")
    return fields.count == 1 ? RequestedRange(fields[0], of: Int64(count)) : .whole
  }

  private func isOfVersion(_ head: HTTPStoredResponse.Head) -> Bool {
    RequestedRange.isCurrent(
      request.values(of: "If-Range").first, tag: head.headers["ETag"], modified: head.headers["Last-Modified"])
  }
}
