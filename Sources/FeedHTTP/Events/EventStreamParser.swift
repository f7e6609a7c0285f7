import FeedStream

/// An event that a server sent (WHATWG HTML, section 9.2).
public struct ServerEvent: Sendable, Hashable {
  /// The id of the latest event that had one; a reconnection continues from there. Empty if no event had an id.
  public var id: String
  /// The event's type: `message` unless the server specified one.
  public var event: String
  /// The data, its lines separated by line feeds.
  public var data: String

  public init(id: String = "", event: String = "message", data: String) {
    self.id = id
    self.event = event
    self.data = data
  }
}

/// Reads a stream of events, no matter how its bytes are split (WHATWG HTML, section 9.2.6).
struct EventStreamParser {
  /// The maximum number of bytes in one event, including comments and unknown fields within it.
  let limit: Int
  /// The id from which the stream continues after the events read so far.
  private(set) var lastID: String
  /// The pause that the server requests before a reconnection, in milliseconds; `nil` if it requests none.
  private(set) var retry: Int?
  private(set) var isTooLong = false

  private var line: [UInt8] = []
  private var size = 0
  private var data: [UInt8] = []
  private var hasData = false
  private var type: [UInt8] = []
  private var id: String
  /// The number of bytes of the byte order mark that have been read.
  private var mark = 0
  private var isAtStart = true
  private var isAfterReturn = false

  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Parameter lastID: the id of the latest event of the previous connection, which events without an id inherit.
  init(limit: Int, lastID: String) {
    self.limit = limit
    self.lastID = lastID
    id = lastID
  }

  /// Reads a chunk, and delivers the events that end in it.
  mutating func read(_ chunk: Chunk, _ deliver: (ServerEvent) -> Void) {
    chunk.withUnsafeBytes { bytes in
      var start = 0
      if isAtStart { start = skipMark(bytes) }
      while start < bytes.count, !isTooLong {
        if isAfterReturn {
          isAfterReturn = false
          if bytes[start] == 0x0A {
            start += 1
            continue
          }
        }
        let rest = bytes[start...]
        guard let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) else { return take(rest) }
        take(rest[..<end])
        isAfterReturn = bytes[end] == 0x0D
        if !isTooLong { endLine(deliver) }
        start = end + 1
      }
    }
  }

  /// Skips a byte order mark at the stream's beginning, some of whose bytes may have arrived earlier.
  private mutating func skipMark(_ bytes: UnsafeRawBufferPointer) -> Int {
    var start = 0
    while start < bytes.count {
      guard bytes[start] == Self.byteOrderMark[mark] else {
        isAtStart = false
        // These bytes are not a byte order mark, but the beginning of the first line.
        line += Self.byteOrderMark[..<mark]
        return start
      }
      mark += 1
      start += 1
      if mark == 3 {
        isAtStart = false
        return start
      }
    }
    return start
  }

  private mutating func take(_ bytes: Slice<UnsafeRawBufferPointer>) {
    size += bytes.count
    guard size <= limit else {
      isTooLong = true
      return
    }
    line += bytes
  }

  private mutating func endLine(_ deliver: (ServerEvent) -> Void) {
    defer { line.removeAll(keepingCapacity: line.capacity <= 4096) }
    guard !line.isEmpty else { return dispatch(deliver) }
    let colon = line.firstIndex(of: UInt8(ascii: ":"))
    let name = line[..<(colon ?? line.count)]
    var value = colon.map { line[($0 + 1)...] } ?? []
    if value.first == 0x20 { value = value.dropFirst() }
    if name.elementsEqual("data".utf8) {
      if hasData { data.append(0x0A) }
      hasData = true
      data += value
    } else if name.elementsEqual("event".utf8) {
      type = Array(value)
    } else if name.elementsEqual("id".utf8) {
      // The standard ignores an id with a null character. The others that no header field may have could not be sent
      // back.
      let text = String(decoding: value, as: UTF8.self)
      if HTTPSyntax.isValue(text) { id = text }
    } else if name.elementsEqual("retry".utf8), !value.isEmpty, value.allSatisfy({ 0x30...0x39 ~= $0 }) {
      retry = Int(String(decoding: value, as: UTF8.self)) ?? .max
    }
    // The bytes of comments and unknown fields count only within an event.
    if !hasData, type.isEmpty { size = 0 }
  }

  private mutating func dispatch(_ deliver: (ServerEvent) -> Void) {
    lastID = id
    defer {
      (hasData, size) = (false, 0)
      data.removeAll(keepingCapacity: data.capacity <= 4096)
      type = []
    }
    guard hasData else { return }
    let name = type.isEmpty ? "message" : String(decoding: type, as: UTF8.self)
    deliver(ServerEvent(id: id, event: name, data: String(decoding: data, as: UTF8.self)))
  }
}
