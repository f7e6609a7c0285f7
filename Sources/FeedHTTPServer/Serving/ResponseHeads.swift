internal import FeedStream

/// Writes the heads of answers.
struct ResponseHeads {
  /// How the end of a body is found.
  enum Delimiting: Equatable {
    case none
    case length(Int)
    case chunked
    /// By the end of the connection.
    case close
  }

  /// Of every answer that has no field of that name itself.
  var always: HTTPServer.Headers = [:]
  private var buffer: [UInt8] = []
  private var dateLine: [UInt8] = []
  private var dateSecond = Int64.min

  /// The head, and `body` behind it.
  ///
  /// - Returns: `nil` when a field is none: it would end the head, and begin another answer.
  mutating func encode(
    _ response: HTTPServer.Response, _ delimiting: Delimiting, closes: Bool, isOld: Bool, now: Int64, body: Chunk? = nil
  ) -> Chunk? {
    buffer.removeAll(keepingCapacity: true)
    append("HTTP/1.1 ")
    append(response.status.code)
    append(" ")
    append(response.status.reason)
    append("\r\n")
    var hasDate = false
    for (name, value) in response.headers {
      guard Self.isField(name, value) else { return nil }
      if Self.isOurs(name) { continue }
      if HTTPServer.Headers.isSame(name, "date") { hasDate = true }
      append(name)
      append(": ")
      append(value)
      append("\r\n")
    }
    for (name, value) in always where response.headers[name] == nil {
      append(name)
      append(": ")
      append(value)
      append("\r\n")
    }
    if !hasDate { appendDate(now) }
    switch delimiting {
    case .none, .close: break
    case .length(let count):
      append("Content-Length: ")
      append(count)
      append("\r\n")
    case .chunked: append("Transfer-Encoding: chunked\r\n")
    }
    if closes { append("Connection: close\r\n") } else if isOld { append("Connection: keep-alive\r\n") }
    append("\r\n")
    if let body { buffer.append(contentsOf: body) }
    return buffer.withUnsafeBytes { Chunk(copying: $0) }
  }

  private mutating func append(_ text: String) { buffer.append(contentsOf: text.utf8) }

  private mutating func append(_ number: Int) {
    guard number >= 10 else { return buffer.append(UInt8(0x30 + number)) }
    append(number / 10)
    buffer.append(UInt8(0x30 + number % 10))
  }

  private mutating func appendDate(_ now: Int64) {
    if now != dateSecond {
      dateLine = Array("Date: \(HTTPDate.text(now))\r\n".utf8)
      dateSecond = now
    }
    buffer.append(contentsOf: dateLine)
  }

  /// What the server decides itself.
  static func isOurs(_ name: String) -> Bool {
    switch name.utf8.count {
    case 10: HTTPServer.Headers.isSame(name, "connection") || HTTPServer.Headers.isSame(name, "keep-alive")
    case 14: HTTPServer.Headers.isSame(name, "content-length")
    case 17: HTTPServer.Headers.isSame(name, "transfer-encoding")
    default: false
    }
  }

  static func isField(_ name: String, _ value: String) -> Bool {
    let classes = ByteClass.table
    return !name.isEmpty && name.utf8.allSatisfy { classes[Int($0)] & ByteClass.token != 0 }
      && value.utf8.allSatisfy { classes[Int($0)] & ByteClass.text != 0 }
  }
}
