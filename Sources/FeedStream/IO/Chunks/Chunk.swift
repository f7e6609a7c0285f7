/// Bytes in transit, from or to a file, a socket or a pipe.
///
///     connection.bytes
///       .lines()                       // text, line by line, wherever a chunk ends
///       .sink { print($0) } receiveValue: { print($0) }
///
/// A chunk is a view of reference-counted, pooled memory: copying or slicing one copies no bytes, and the memory
/// returns to its pool when the last chunk that uses it is released. A chunk is immutable, so it may cross threads. Its
/// indices begin at zero, even in a slice. A small slice retains all the memory from which it was cut: ``compacted()``
/// releases the rest.
// @unchecked: the memory that a chunk shows is never written again.
@frozen public struct Chunk: @unchecked Sendable {
  @usableFromInline let memory: ChunkMemory
  @usableFromInline let start: UnsafePointer<UInt8>
  /// The number of bytes.
  public let count: Int

  /// - Parameter start: a pointer to `count` initialized bytes in `memory`, which never change again.
  @inlinable init(_ memory: ChunkMemory, from start: UnsafePointer<UInt8>, count: Int) {
    self.memory = memory
    self.start = start
    self.count = count
  }

  /// Makes an empty chunk.
  @inlinable public init() { self.init(.none, from: UnsafePointer(ChunkMemory.none.base), count: 0) }

  /// Makes a chunk of `bytes`, which are copied unless they are already a `Chunk`.
  @inlinable public init<Bytes: Sequence>(_ bytes: Bytes) where Bytes.Element == UInt8 {
    if let chunk = bytes as? Chunk {
      self = chunk
    } else if let chunk = bytes.withContiguousStorageIfAvailable({ Chunk(copying: UnsafeRawBufferPointer($0)) }) {
      self = chunk
    } else {
      self.init(ContiguousArray(bytes))
    }
  }

  /// Makes a chunk of `text` in UTF-8.
  @inlinable public init(_ text: some StringProtocol) { self.init(text.utf8) }

  /// Makes a chunk with a copy of `bytes`.
  public init(copying bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else {
      self.init()
      return
    }
    let memory = ChunkMemory(capacity: bytes.count)
    memory.base.update(from: source.assumingMemoryBound(to: UInt8.self), count: bytes.count)
    self.init(memory, from: UnsafePointer(memory.base), count: bytes.count)
  }

  /// Makes a chunk with its own memory.
  ///
  /// - Parameter fill: writes into the memory from its beginning, and returns the number of bytes written.
  package init(capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
    let memory = ChunkMemory(capacity: capacity)
    let count = fill(UnsafeMutableRawBufferPointer(start: memory.base, count: capacity))
    self.init(memory, from: UnsafePointer(memory.base), count: count)
  }

  /// Makes a chunk with a copy of `bytes`.
  public init(copying bytes: RawSpan) { self = bytes.withUnsafeBytes { Chunk(copying: $0) } }
}

// MARK: - Reading

extension Chunk: RandomAccessCollection {
  @inlinable public var startIndex: Int { 0 }
  @inlinable public var endIndex: Int { count }

  @inlinable public subscript(position: Int) -> UInt8 {
    precondition(position >= 0 && position < count, "Chunk: the index is out of range; use 0..<count")
    return start[position]
  }

  /// The bytes at `bounds`, without copying them.
  @inlinable public subscript(bounds: Range<Int>) -> Chunk {
    precondition(
      bounds.lowerBound >= 0 && bounds.upperBound <= count,
      "Chunk: the range is out of bounds; use a range within 0..<count")
    return Chunk(memory, from: start + bounds.lowerBound, count: bounds.count)
  }

  @inlinable public func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> R
  ) rethrows -> R? {
    try withExtendedLifetime(memory) { try body(UnsafeBufferPointer(start: start, count: count)) }
  }
}

extension Chunk {
  /// The bytes, for reading in place.
  @inlinable public var bytes: RawSpan {
    @_lifetime(borrow self) get {
      _overrideLifetime(RawSpan(_unsafeStart: start, byteCount: count), borrowing: self)
    }
  }

  /// Calls `body` with the bytes; the pointer is valid until `body` returns.
  @inlinable public func withUnsafeBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    defer { withExtendedLifetime(memory) {} }
    return try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The bytes as text; invalid UTF-8 is replaced by U+FFFD. If a character may be split between chunks, use
  /// ``Publisher/utf8Text()``.
  @inlinable public var text: String {
    withExtendedLifetime(memory) { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }
  }

  /// A copy in its own memory if the chunk uses less than half of the memory that it retains; otherwise, the chunk
  /// itself.
  public func compacted() -> Chunk {
    count * 2 < memory.capacity ? withUnsafeBytes { Chunk(copying: $0) } : self
  }

  /// The identity and size of the memory that the chunk retains. Chunks that share memory have the same identity.
  package var keptMemory: (identity: ObjectIdentifier, bytes: Int) { (ObjectIdentifier(memory), memory.capacity) }
}

// MARK: - Comparing and joining

extension Chunk: Hashable {
  public static func == (a: Chunk, b: Chunk) -> Bool {
    a.count == b.count && a.withUnsafeBytes { a in b.withUnsafeBytes { b in a.elementsEqual(b) } }
  }

  public func hash(into hasher: inout Hasher) { withUnsafeBytes { hasher.combine(bytes: $0) } }
}

extension Chunk {
  /// Joins `chunks` into one chunk. A single chunk isn't copied.
  public init(joining chunks: some Collection<Chunk>) {
    guard chunks.count > 1 else {
      self = chunks.first ?? Chunk()
      return
    }
    let memory = ChunkMemory(capacity: chunks.reduce(0) { $0 + $1.count })
    var end = memory.base
    for chunk in chunks {
      chunk.withUnsafeBytes { end.update(from: $0.baseAddress!.assumingMemoryBound(to: UInt8.self), count: $0.count) }
      end += chunk.count
    }
    self.init(memory, from: UnsafePointer(memory.base), count: end - memory.base)
  }
}

extension [Chunk] {
  /// Appends a chunk in its own memory, so that a few bytes don't keep a large block alive. Joins small chunks, so that
  /// many of them don't take much more memory than their bytes.
  mutating func appendCompacted(_ chunk: Chunk) {
    append(chunk.compacted())
    while count > 1, self[count - 1].count < 4096, self[count - 2].count <= self[count - 1].count {
      let last = removeLast()
      append(Chunk(joining: [removeLast(), last]))
    }
  }
}

extension Chunk: ExpressibleByArrayLiteral, ExpressibleByStringLiteral, CustomStringConvertible {
  public init(arrayLiteral bytes: UInt8...) { self.init(bytes) }
  public init(stringLiteral text: String) { self.init(text) }

  /// The bytes as text, or the number of bytes if they aren't text or if there are more than 256.
  public var description: String {
    if count <= 256, let text = String(validating: self, as: UTF8.self) { return text.debugDescription }
    return "\(count) bytes"
  }
}
