import CLibrary

extension Publisher where Output == Chunk {
  /// Delivers the parts between bytes equal to `separator`, without the separators.
  ///
  ///     upstream    --a,b--b,,c--|
  ///     split(by: ,)
  ///     downstream  --a----(bb)()(c)|
  ///
  /// A part whose bytes all come from one chunk is a slice of that chunk. An empty part after the last separator is not
  /// delivered.
  ///
  /// **Demand, cancellation:** as in `framed(by:)`. **Failure:** upstream's, and ``ChunkError/partTooLong(limit:)``.
  /// **Policy:** holds one chunk and one incomplete part.
  ///
  /// - Parameters:
  ///   - separator: the byte between parts, such as `UInt8(ascii: ",")`.
  ///   - maxLength: the maximum number of bytes in a part; 1 MiB by default.
  public func split(
    by separator: UInt8, maxLength: Int = 1 << 20
  ) -> Publishers.Framed<Self, SplittingDecoder, Publishers.Throwing<Failure>> {
    framed(by: SplittingDecoder(separator: separator, maxLength: maxLength))
  }

  /// Delivers the lines of UTF-8 text, without their line endings (LF or CR LF).
  ///
  ///     upstream    --he--llo⏎wor--ld--|
  ///     lines()
  ///     downstream  ------hello--------(world)|
  ///
  /// Invalid UTF-8 is replaced by U+FFFD. The last line may lack a line ending.
  ///
  /// **Demand, failure, cancellation, policy:** as in ``Publisher/split(by:maxLength:)``.
  ///
  /// - Parameter maxLength: the maximum number of bytes in a line; 1 MiB by default.
  public func lines(
    maxLength: Int = 1 << 20
  ) -> Publishers.Framed<Self, LineDecoder, Publishers.Throwing<Failure>> {
    framed(by: LineDecoder(maxLength: maxLength))
  }
}

/// Splits bytes at separators: see ``Publisher/split(by:maxLength:)``.
@frozen public struct SplittingDecoder: ChunkDecoder, Sendable {
  public typealias DecodingFailure = any Error

  @usableFromInline let separator: UInt8
  @usableFromInline let maxLength: Int
  /// The chunk that is being searched.
  @usableFromInline var chunk = Chunk()
  /// The position in `chunk` where the next part begins.
  @usableFromInline var place = 0
  /// The beginning of an incomplete part, from earlier chunks.
  @usableFromInline var beginning: [Chunk] = []
  @usableFromInline var beginningCount = 0

  /// - Precondition: `maxLength` is more than zero.
  @inlinable public init(separator: UInt8, maxLength: Int = 1 << 20) {
    precondition(maxLength > 0, "split(maxLength: \(maxLength)): no part could be delivered; use 1 or more")
    self.separator = separator
    self.maxLength = maxLength
  }

  @inlinable public mutating func feed(_ chunk: Chunk) {
    self.chunk = chunk
    place = 0
  }

  @inlinable public mutating func next() throws -> Chunk? {
    guard place < chunk.count else { return nil }
    let (start, left) = (chunk.start + place, chunk.count - place)
    let found = memchr(start, Int32(separator), left)
    let count = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(start) } ?? left
    guard beginningCount + count <= maxLength else { throw ChunkError.partTooLong(limit: maxLength) }
    place += count + 1
    let part = Chunk(chunk.memory, from: start, count: count)
    if found != nil { return beginningCount == 0 ? part : joined(with: part) }
    keep(part)
    return nil
  }

  /// Keeps an incomplete part at the end of a chunk.
  @usableFromInline mutating func keep(_ part: Chunk) {
    beginning.appendCompacted(part)
    beginningCount += part.count
    chunk = Chunk()
  }

  /// Skips a part that is too long, up to the separator after it.
  ///
  /// - Returns: false if the separator has not arrived yet.
  mutating func skipPart() -> Bool {
    beginning.removeAll(keepingCapacity: true)
    beginningCount = 0
    guard place < chunk.count else { return false }
    let start = chunk.start + place
    let found = memchr(start, Int32(separator), chunk.count - place)
    place = found.map { place + (UnsafeRawPointer($0) - UnsafeRawPointer(start)) + 1 } ?? chunk.count
    return found != nil
  }

  @inlinable public mutating func finish() throws -> Chunk? { beginningCount == 0 ? nil : joined(with: Chunk()) }

  @usableFromInline mutating func joined(with end: Chunk) -> Chunk {
    defer {
      beginning.removeAll(keepingCapacity: true)
      beginningCount = 0
    }
    return Chunk(joining: beginning + [end])
  }
}

/// Splits text into lines: see ``Publisher/lines(maxLength:)``.
@frozen public struct LineDecoder: ChunkDecoder, Sendable {
  public typealias DecodingFailure = any Error

  @usableFromInline var parts: SplittingDecoder

  /// - Precondition: `maxLength` is more than zero.
  @inlinable public init(maxLength: Int = 1 << 20) { parts = SplittingDecoder(separator: 10, maxLength: maxLength) }

  @inlinable public mutating func feed(_ chunk: Chunk) { parts.feed(chunk) }
  @inlinable public mutating func next() throws -> String? { try parts.next().map(Self.text(of:)) }
  @inlinable public mutating func finish() throws -> String? { try parts.finish().map(Self.text(of:)) }

  @usableFromInline static func text(of line: Chunk) -> String { (line.last == 13 ? line.dropLast() : line).text }
}
