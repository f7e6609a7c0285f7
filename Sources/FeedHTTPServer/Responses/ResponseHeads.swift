internal import FeedStream

/// Writes the heads of responses, and short bodies after them.
struct ResponseHeads {
  /// The framing of a body.
  enum Delimiting: Equatable {
    case none
    case length(Int)
    case chunked
    /// The body ends with the connection.
    case close
  }

  /// Longer bodies are written without being copied.
  static let mostBodyBytes = 16 * 1024
  private static let blockBytes = 64 * 1024
  /// The maximum size of the fields that the server adds: a length, the `Connection` field, the name of an id, and
  /// empty lines.
  private static let ownBytes = 128

  /// The fields to add to every response that doesn't have fields with the same names; `Vary` is always added.
  var always: HTTPHeaders = [:]
  /// The blocks of memory to which responses are written. They are reused, because most of them are released before the
  /// next response begins.
  private let memory = Memory()
  /// The status lines, by status.
  private var lines = ContiguousArray<[UInt8]>(repeating: [], count: 600)
  private var dateLine: [UInt8] = []
  private var dateSecond = Int64.min

  private final class Memory {
    @exclusivity(unchecked) var writer = ChunkWriter(ChunkPool(blockSize: blockBytes, keeping: 4), least: 1)
  }

  /// Writes the head, and `body` after it.
  ///
  /// - Parameters:
  ///   - id: the value of `X-Request-ID`, instead of a field with this name.
  ///   - body: at most ``mostBodyBytes``.
  /// - Returns: `nil` if a field is malformed: it could end the head, and begin a second response.
  mutating func encode(
    _ status: HTTPStatus, _ headers: HTTPHeaders, _ delimiting: Delimiting, closes: Bool, isOld: Bool,
    now: Int64, id: String? = nil, body: Chunk? = nil
  ) -> Chunk? {
    if lines[status.code].isEmpty {
      lines[status.code] = Array("HTTP/1.1 \(status.code) \(status.reason)\r\n".utf8)
    }
    if now != dateSecond {
      dateLine = Array("Date: \(HTTPDate.text(now))\r\n".utf8)
      dateSecond = now
    }
    var most = lines[status.code].count + dateLine.count + Self.ownBytes + (body?.count ?? 0)
    most += Self.bytes(of: headers) + (id?.utf8.count ?? 0) + (always.isEmpty ? 0 : Self.bytes(of: always))
    if most <= Self.blockBytes {
      let room = memory.writer.room(for: most).baseAddress!
      var cursor = ByteCursor(at: room)
      let isWhole = write(&cursor, status, headers, delimiting, closes, isOld, id, body)
      let encoded = memory.writer.take(isWhole ? cursor.at - room : 0)
      return isWhole ? encoded : nil
    }
    var isWhole = true
    let encoded = Chunk(capacity: most) {
      let room = $0.baseAddress!.assumingMemoryBound(to: UInt8.self)
      var cursor = ByteCursor(at: room)
      isWhole = write(&cursor, status, headers, delimiting, closes, isOld, id, body)
      return isWhole ? cursor.at - room : 0
    }
    return isWhole ? encoded : nil
  }

  /// The maximum encoded size of the fields.
  private static func bytes(of headers: HTTPHeaders) -> Int {
    var count = 0
    _ = headers.allFields { name, value in
      count += name.utf8.count + value.utf8.count + 4
      return true
    }
    return count
  }

  /// - Returns: false if a field is invalid.
  private func write(
    _ cursor: inout ByteCursor, _ status: HTTPStatus, _ headers: HTTPHeaders, _ delimiting: Delimiting,
    _ closes: Bool, _ isOld: Bool, _ id: String?, _ body: Chunk?
  ) -> Bool {
    cursor.put(lines[status.code])
    var hasDate = false
    let areFields = headers.allFields { name, value in
      let place = cursor.at
      guard cursor.putField(name, value) else { return false }
      if Self.isOurs(name) || id != nil && Self.isID(name) { cursor.at = place }
      if name.utf8.count == 4, HTTPSyntax.isSame(name, "date") { hasDate = true }
      return true
    }
    guard areFields else { return false }
    if !always.isEmpty {
      for (name, value) in always
      where Self.isAdded(name, to: headers) && (id == nil || !Self.isID(name)) {
        _ = cursor.putField(name, value)
      }
    }
    if let id {
      cursor.put("X-Request-ID: ")
      guard cursor.putValue(id) else { return false }
    }
    if !hasDate { cursor.put(dateLine) }
    switch delimiting {
    case .none, .close: break
    case .length(let count):
      cursor.put("Content-Length: ")
      cursor.put(count)
      cursor.put("\r\n")
    case .chunked: cursor.put("Transfer-Encoding: chunked\r\n")
    }
    if closes { cursor.put("Connection: close\r\n") } else if isOld { cursor.put("Connection: keep-alive\r\n") }
    cursor.put("\r\n")
    body?.withUnsafeBytes { cursor.put($0) }
    return true
  }

  /// True if a field in ``always`` is added to a response with these fields.
  static func isAdded(_ name: String, to headers: HTTPHeaders) -> Bool {
    headers[name] == nil || HTTPSyntax.isSame(name, "vary")
  }

  /// True for fields that the server sets itself.
  static func isOurs(_ name: String) -> Bool {
    switch name.utf8.count {
    case 10: HTTPSyntax.isSame(name, "connection") || HTTPSyntax.isSame(name, "keep-alive")
    case 14: HTTPSyntax.isSame(name, "content-length")
    case 17: HTTPSyntax.isSame(name, "transfer-encoding")
    default: false
    }
  }

  private static func isID(_ name: String) -> Bool {
    // The first letter distinguishes the name from `Content-Type`, which has the same length.
    name.utf8.count == 12 && name.utf8.first.map(HTTPSyntax.lowercased) == UInt8(ascii: "x")
      && HTTPSyntax.isSame(name, "x-request-id")
  }
}
