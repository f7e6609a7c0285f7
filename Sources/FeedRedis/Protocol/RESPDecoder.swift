public import FeedStream

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Makes replies of the bytes that a Redis server sends, however they are cut: versions 2 and 3 of its protocol
/// (https://redis.io/docs/latest/develop/reference/protocol-spec/).
///
///     connection.bytes.framed(by: RESPDecoder())
///
/// What a server says of lengths is believed only up to its ``Limits``, and memory grows with the bytes that came, not
/// with what was announced. Attributes are read and dropped. Streamed strings and aggregates, which no server sends, are refused.
public struct RESPDecoder: ChunkDecoder {
  /// The bounds of a reply.
  public struct Limits: Hashable, Sendable {
    /// The longest string, in bytes: 64 MiB unless changed.
    public var stringBytes = 64 << 20
    /// The longest line, which is a status, an error or a number: 64 KiB unless changed.
    public var lineBytes = 64 << 10
    /// How deep arrays may lie in arrays: 16 unless changed.
    public var depth = 16
    /// How many values one reply may have in all: four million unless changed.
    public var values = 4_000_000

    public init() {}
  }

  private enum Kind { case array, map, set, push, attribute }

  /// An aggregate of which values are missing.
  private struct Frame {
    let kind: Kind
    var missing: Int
    var values: [RedisValue] = []
  }

  private enum StringKind { case plain, verbatim, error }

  /// A string of which bytes are missing.
  private struct PartialString {
    let kind: StringKind
    let count: Int
    var parts: [Chunk] = []
    /// With the line's end after it.
    var missing: Int
  }

  private let limits: Limits
  private var chunk = Chunk()
  private var position = 0
  /// The beginning of a line whose end has not come.
  private var line: [UInt8] = []
  private var string: PartialString?
  private var frames: [Frame] = []
  private var valueCount = 0

  public init(limits: Limits = Limits()) { self.limits = limits }

  public mutating func feed(_ chunk: Chunk) {
    self.chunk = chunk
    position = 0
  }

  public mutating func next() throws -> RedisValue? {
    while position < chunk.count {
      guard let value = try string == nil ? readLine() : readString() else { continue }
      if let reply = close(value) {
        valueCount = 0
        return reply
      }
    }
    return nil
  }

  public mutating func finish() throws -> RedisValue? {
    guard line.isEmpty, string == nil, frames.isEmpty else { throw RESPError.cutOff }
    return nil
  }

  // MARK: Lines

  /// - Returns: the value that the line is; `nil` when it begins one, or has not come whole.
  private mutating func readLine() throws(RESPError) -> RedisValue? {
    let rest = chunk.count - position
    let end = chunk.withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress else { return nil }
      return memchr(start + position, 0x0A, rest).map { UnsafeRawPointer($0) - start }
    }
    guard line.count + ((end ?? chunk.count) - position) <= limits.lineBytes else {
      throw .tooLong(limit: limits.lineBytes)
    }
    guard let end else {
      line.append(contentsOf: chunk[position...])
      position = chunk.count
      return nil
    }
    defer { position = max(position, end + 1) }
    if line.isEmpty { return try read(chunk[position..<end]) }
    line.append(contentsOf: chunk[position..<end])
    let whole = Chunk(line)
    line.removeAll(keepingCapacity: true)
    // A string that begins here goes on behind the line.
    position = end + 1
    return try read(whole)
  }

  private mutating func read(_ line: Chunk) throws(RESPError) -> RedisValue? {
    guard line.count >= 2, line[line.count - 1] == 0x0D else { throw .malformed }
    valueCount += 1
    guard valueCount <= limits.values else { throw .tooMany(limit: limits.values) }
    let body = line[1..<line.count - 1]
    switch line[0] {
    case UInt8(ascii: "+"): return .status(body.text)
    case UInt8(ascii: "-"): return .error(RedisRefusal(body.text))
    case UInt8(ascii: ":"): return .integer(try number(body))
    case UInt8(ascii: "$"): return try begin(.plain, body)
    case UInt8(ascii: "="): return try begin(.verbatim, body)
    case UInt8(ascii: "!"): return try begin(.error, body)
    case UInt8(ascii: "*"): return try begin(.array, body, valuesEach: 1)
    case UInt8(ascii: "~"): return try begin(.set, body, valuesEach: 1)
    case UInt8(ascii: ">"): return try begin(.push, body, valuesEach: 1)
    case UInt8(ascii: "%"): return try begin(.map, body, valuesEach: 2)
    case UInt8(ascii: "|"): return try begin(.attribute, body, valuesEach: 2)
    case UInt8(ascii: "_"):
      guard body.isEmpty else { throw .malformed }
      return .null
    case UInt8(ascii: "#"):
      guard body.count == 1, body[0] == UInt8(ascii: "t") || body[0] == UInt8(ascii: "f") else { throw .malformed }
      return .boolean(body[0] == UInt8(ascii: "t"))
    case UInt8(ascii: ","):
      guard let number = Double(body.text) else { throw .malformed }
      return .double(number)
    case UInt8(ascii: "("):
      let digits = body.first == UInt8(ascii: "-") ? body.dropFirst() : body[...]
      guard !digits.isEmpty, digits.allSatisfy({ 0x30...0x39 ~= $0 }) else { throw .malformed }
      return .bigNumber(body.text)
    default: throw .malformed
    }
  }

  private func number(_ digits: Chunk) throws(RESPError) -> Int64 {
    var place = 0
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { place = 1 }
    guard digits.count > place, digits.count - place <= 19 else { throw .malformed }
    var number: Int64 = 0
    while place < digits.count {
      let digit = digits[place]
      guard 0x30...0x39 ~= digit else { throw .malformed }
      let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
      // Downwards, where there is one number more.
      let (next, overflows) = tens.subtractingReportingOverflow(Int64(digit &- 0x30))
      guard !isTooLarge, !overflows else { throw .malformed }
      number = next
      place += 1
    }
    guard !isNegative else { return number }
    guard number != .min else { throw .malformed }
    return -number
  }

  // MARK: Strings

  private mutating func begin(_ kind: StringKind, _ digits: Chunk) throws(RESPError) -> RedisValue? {
    let count = try number(digits)
    if count == -1, kind == .plain { return .null }
    guard count >= 0 else { throw .malformed }
    guard count <= limits.stringBytes else { throw .tooLong(limit: limits.stringBytes) }
    string = PartialString(kind: kind, count: Int(count), missing: Int(count) + 2)
    return nil
  }

  private mutating func readString() throws(RESPError) -> RedisValue? {
    guard var partial = string.take() else { return nil }
    let count = min(partial.missing, chunk.count - position)
    partial.missing -= count
    partial.parts.append(chunk[position..<position + count])
    position += count
    guard partial.missing == 0 else {
      string = partial
      return nil
    }
    let whole = Chunk(joining: partial.parts)
    guard whole[partial.count] == 0x0D, whole[partial.count + 1] == 0x0A else { throw .malformed }
    let bytes = whole[0..<partial.count]
    switch partial.kind {
    case .plain: return .string(bytes)
    case .error: return .error(RedisRefusal(bytes.text))
    case .verbatim:
      // `txt:`, and then the text.
      guard bytes.count >= 4, bytes[3] == UInt8(ascii: ":") else { throw .malformed }
      return .string(bytes[4..<bytes.count])
    }
  }

  // MARK: Aggregates

  private mutating func begin(_ kind: Kind, _ digits: Chunk, valuesEach: Int) throws(RESPError) -> RedisValue? {
    let count = try number(digits)
    if count == -1, kind == .array { return .null }
    guard count >= 0 else { throw .malformed }
    guard count <= limits.values / valuesEach else { throw .tooMany(limit: limits.values) }
    guard frames.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
    let frame = Frame(kind: kind, missing: Int(count) * valuesEach)
    if count == 0 { return value(of: frame) }
    frames.append(frame)
    return nil
  }

  /// Puts a value where it belongs.
  ///
  /// - Returns: the reply, when it is whole.
  private mutating func close(_ value: RedisValue) -> RedisValue? {
    var value = value
    while let last = frames.indices.last {
      frames[last].values.append(value)
      frames[last].missing -= 1
      guard frames[last].missing == 0 else { return nil }
      guard let whole = self.value(of: frames.removeLast()) else { return nil }
      value = whole
    }
    return value
  }

  /// An attribute is none: what it belongs to follows.
  private func value(of frame: Frame) -> RedisValue? {
    switch frame.kind {
    case .array: .array(frame.values)
    case .map: .map(frame.values)
    case .set: .set(frame.values)
    case .push: .push(frame.values)
    case .attribute: nil
    }
  }
}

/// The reasons why bytes are no reply of a Redis server.
public enum RESPError: Error, Hashable, Sendable {
  /// They are not in its protocol: another service answers.
  case malformed
  /// A line or a string is longer than `limit` bytes.
  case tooLong(limit: Int)
  /// A reply has more than `limit` values.
  case tooMany(limit: Int)
  /// Arrays lie deeper in arrays than `limit`.
  case tooDeep(limit: Int)
  /// The connection ended within a reply.
  case cutOff
}

extension RESPError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .malformed: "what answers does not speak Redis' protocol"
    case .tooLong(let limit): "a reply has a string of more than \(limit) bytes"
    case .tooMany(let limit): "a reply has more than \(limit) values"
    case .tooDeep(let limit): "a reply is nested more than \(limit) deep"
    case .cutOff: "the connection ended within a reply"
    }
  }
}
