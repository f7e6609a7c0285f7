internal import FeedHTTPTypes
internal import FeedStream

/// The head of the server's response to a handshake, read from bytes that are split anywhere (RFC 9112, 4).
struct ResponseHead {
  private(set) var status = 0
  private(set) var reason = ""
  private(set) var headers = HTTPHeaders()

  /// The maximum number of bytes, and of fields, in a head.
  static let mostBytes = 16 * 1024
  static let mostFields = 100

  /// - Returns: the head and its length in bytes; `nil` if more bytes are needed.
  /// - Throws: if it isn't an HTTP/1.1 response, or is too long.
  static func parse(_ bytes: [UInt8]) throws(FieldSyntaxError) -> (head: ResponseHead, length: Int)? {
    // Bytes that can't begin a response are refused early.
    guard bytes.prefix(7).elementsEqual("HTTP/1.".utf8.prefix(bytes.count)) else { throw FieldSyntaxError() }
    var (at, head, isFirst) = (0, ResponseHead(), true)
    while let end = bytes[at...].firstIndex(of: 0x0A) {
      guard end < mostBytes, end > at, bytes[end - 1] == 0x0D else { throw FieldSyntaxError() }
      let line = bytes[at..<end - 1]
      at = end + 1
      if isFirst {
        try head.readStatus(line)
        isFirst = false
      } else if line.isEmpty {
        return (head, at)
      } else {
        guard head.headers.count < mostFields else { throw FieldSyntaxError() }
        try head.readField(line)
      }
    }
    guard bytes.count < mostBytes else { throw FieldSyntaxError() }
    return nil
  }

  private mutating func readStatus(_ line: ArraySlice<UInt8>) throws(FieldSyntaxError) {
    let parts = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[0].count == 8, (0x30...0x39).contains(parts[0].last!), parts[1].count == 3,
      parts[1].allSatisfy({ (0x30...0x39).contains($0) }),
      let status = Int(String(decoding: parts[1], as: UTF8.self)), status >= 100
    else { throw FieldSyntaxError() }
    self.status = status
    // The reason may be displayed, so it is used only if it is printable ASCII.
    if parts.count == 3, parts[2].allSatisfy({ (0x20...0x7E).contains($0) }) {
      reason = String(decoding: parts[2].prefix(100), as: UTF8.self)
    }
  }

  private mutating func readField(_ line: ArraySlice<UInt8>) throws(FieldSyntaxError) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw FieldSyntaxError() }
    let name = String(decoding: line[..<colon], as: UTF8.self)
    let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
    guard HTTPSyntax.isField(name, value) else { throw FieldSyntaxError() }
    headers.add(name, String(value[...].trimmed))
  }
}
