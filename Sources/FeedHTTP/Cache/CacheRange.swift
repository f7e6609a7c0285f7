import Foundation

/// Parts of bodies that are stored whole (RFC 9110, section 14). Parts themselves are not stored.
extension CacheRequest {
  /// True when a part is asked for that may come from the store.
  var asksForPart: Bool { isBypassing && !mayNotStore }

  /// The part of a fresh response; `nil` when only its server can answer: for several parts, or one beyond the end.
  func answer(from stored: HTTPStoredResponse, at now: Date) -> HTTPResponse? {
    var response = evaluated(stored, at: now)
    guard asksForPart, response.status == 200 else { return response }
    // What is decoded has other offsets than what its server counts.
    guard response.headers["Content-Encoding"] == nil, let part = part(of: response.body.count) else { return nil }
    guard isOfVersion(stored.head) else { return response }
    let count = response.body.count
    let start = response.body.startIndex
    response.status = 206
    response.body = response.body.subdata(in: start + part.lowerBound..<start + part.upperBound)
    response.headers = response.headers.keeping { $0.lowercased() != "content-length" }
      .adding("Content-Length", "\(part.count)")
      .adding("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(count)")
    return response
  }

  /// The one part requested of a body of `count` bytes.
  private func part(of count: Int) -> Range<Int>? {
    let fields = request.values(of: "Range")
    let pattern = #/[Bb]ytes=\s*(\d{0,18})-(\d{0,18})\s*/#
    guard fields.count == 1, let match = fields[0].wholeMatch(of: pattern) else { return nil }
    switch (Int(match.1), Int(match.2)) {
    case (nil, let last?) where last > 0 && count > 0: return max(0, count - last)..<count
    case (let first?, nil) where first < count: return first..<count
    case (let first?, let last?) where first <= last && first < count: return first..<min(last + 1, count)
    default: return nil
    }
  }

  /// True when the caller's other parts are of the same version, or it has not said (RFC 9110, section 13.1.5). Weak
  /// validators do not count.
  private func isOfVersion(_ head: HTTPStoredResponse.Head) -> Bool {
    guard let condition = request.values(of: "If-Range").first else { return true }
    return condition.hasPrefix("\"") ? condition == head.headers["ETag"] : condition == head.headers["Last-Modified"]
  }
}
