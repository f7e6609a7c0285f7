import CLibrary
public import FeedStream

/// Decodes replies from the bytes that a Redis server sends, no matter how they are split: versions 2 and 3 of the
/// protocol (https://redis.io/docs/latest/develop/reference/protocol-spec/).
///
///     connection.bytes.framed(by: RESPDecoder())
///
/// An announced length is accepted only up to the ``Limits``, and memory grows with the bytes that arrive, not with the
/// announced length. Attributes are read and dropped. Streamed strings and aggregates, which no server sends, are
/// refused.
public struct RESPDecoder: ChunkDecoder {
  /// The limits on a reply.
  public struct Limits: Hashable, Sendable {
    /// The longest string, in bytes: 64 MiB by default.
    public var stringBytes = 64 << 20
    /// The longest line, which is a status, an error or a number: 64 KiB by default.
    public var lineBytes = 64 << 10
    /// The maximum nesting depth of arrays: 16 by default.
    public var depth = 16
    /// The maximum number of values in one reply: four million by default.
    public var values = 4_000_000

    public init() {}
  }

  private enum Kind { case array, map, set, push, attribute }

  /// An incomplete aggregate.
  private struct Frame {
    let kind: Kind
    var missing: Int
    var values: [RedisValue] = []
  }

  private enum StringKind { case plain, verbatim, error }

  /// An incomplete string.
  private struct PartialString {
    let kind: StringKind
    let count: Int
    var parts: [Chunk] = []
    /// The number of missing bytes, including the line ending after them.
    var missing: Int
  }

  private let limits: Limits
  private var chunk = Chunk()
  private var position = 0
  /// The beginning of an incomplete line.
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
      guard let reply = frames.isEmpty ? value : close(value) else { continue }
      valueCount = 0
      return reply
    }
    return nil
  }

  public mutating func finish() throws -> RedisValue? {
    guard line.isEmpty, string == nil, frames.isEmpty else { throw RESPError.cutOff }
    return nil
  }

  // MARK: Lines

  /// - Returns: the value of the line; `nil` if the line begins a value, or is incomplete.
  private mutating func readLine() throws(RESPError) -> RedisValue? {
    let chunk = self.chunk
    return try chunk.withUnsafeBytes { bytes throws(RESPError) in
      let rest = UnsafeRawBufferPointer(rebasing: bytes[position...])
      let end = memchr(rest.baseAddress!, 0x0A, rest.count).map { UnsafeRawPointer($0) - rest.baseAddress! }
      guard line.count + (end ?? rest.count) <= limits.lineBytes else { throw .tooLong(limit: limits.lineBytes) }
      guard let end else {
        line.append(contentsOf: rest)
        position = chunk.count
        return nil
      }
      // The bytes of a string that begins here follow the line.
      position += end + 1
      let part = UnsafeRawBufferPointer(rebasing: rest[..<end])
      if line.isEmpty { return try read(part) }
      line.append(contentsOf: part)
      let whole = Chunk(line)
      line.removeAll(keepingCapacity: true)
      return try whole.withUnsafeBytes { bytes throws(RESPError) in try read(bytes) }
    }
  }

  private mutating func read(_ line: UnsafeRawBufferPointer) throws(RESPError) -> RedisValue? {
    guard line.count >= 2, line[line.count - 1] == 0x0D else { throw .malformed }
    valueCount += 1
    guard valueCount <= limits.values else { throw .tooMany(limit: limits.values) }
    let body = UnsafeRawBufferPointer(rebasing: line[1..<line.count - 1])
    switch line[0] {
    case UInt8(ascii: "$"): return try begin(.plain, body)
    case UInt8(ascii: "="): return try begin(.verbatim, body)
    case UInt8(ascii: "!"): return try begin(.error, body)
    case UInt8(ascii: "*"): return try begin(.array, body, valuesEach: 1)
    case UInt8(ascii: "~"): return try begin(.set, body, valuesEach: 1)
    case UInt8(ascii: ">"): return try begin(.push, body, valuesEach: 1)
    case UInt8(ascii: "%"): return try begin(.map, body, valuesEach: 2)
    case UInt8(ascii: "|"): return try begin(.attribute, body, valuesEach: 2)
    default: return try RedisValue(line: line[0], body)
    }
  }

  // MARK: Strings

  private mutating func begin(_ kind: StringKind, _ digits: UnsafeRawBufferPointer) throws(RESPError) -> RedisValue? {
    let number = try Int64(line: digits)
    if number == -1, kind == .plain { return .null }
    guard number >= 0 else { throw .malformed }
    // The line ending after the string counts, too.
    guard number <= min(limits.stringBytes, .max - 2) else { throw .tooLong(limit: limits.stringBytes) }
    let (count, start) = (Int(number), position)
    guard chunk.count - start >= count + 2 else {
      string = PartialString(kind: kind, count: count, missing: count + 2)
      return nil
    }
    // Most strings arrive whole.
    position += count + 2
    return try value(kind, chunk[start..<start + count + 2])
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
    return try value(partial.kind, Chunk(joining: partial.parts))
  }

  /// - Parameter whole: the string, including the line ending after it.
  private func value(_ kind: StringKind, _ whole: Chunk) throws(RESPError) -> RedisValue {
    let count = whole.count - 2
    guard whole[count] == 0x0D, whole[count + 1] == 0x0A else { throw .malformed }
    let bytes = whole[0..<count]
    switch kind {
    case .plain: return .string(bytes)
    case .error: return .error(RedisRefusal(bytes.text))
    case .verbatim:
      // The text follows its format, such as `txt:`.
      guard count >= 4, bytes[3] == UInt8(ascii: ":") else { throw .malformed }
      return .string(bytes[4..<count])
    }
  }

  // MARK: Aggregates

  private mutating func begin(
    _ kind: Kind, _ digits: UnsafeRawBufferPointer, valuesEach: Int
  ) throws(RESPError) -> RedisValue? {
    let count = try Int64(line: digits)
    if count == -1, kind == .array { return .null }
    guard count >= 0 else { throw .malformed }
    guard count <= limits.values / valuesEach else { throw .tooMany(limit: limits.values) }
    guard frames.count < limits.depth else { throw .tooDeep(limit: limits.depth) }
    let frame = Frame(kind: kind, missing: Int(count) * valuesEach)
    if count == 0 { return value(of: frame) }
    frames.append(frame)
    return nil
  }

  /// Adds a value to its aggregate.
  ///
  /// - Returns: the reply, if it is complete.
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

  /// The value of a complete aggregate; `nil` for an attribute, which only describes the value after it.
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
