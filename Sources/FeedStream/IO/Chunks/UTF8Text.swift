extension Publisher where Output == Chunk {
  /// Delivers UTF-8 bytes as text. A character's bytes may be split across chunks.
  ///
  ///     upstream    --"h\xC3"--"\xA9"--|
  ///     utf8Text()
  ///     downstream  --"h"------"é"-----|
  ///
  /// Invalid UTF-8 is replaced by U+FFFD, as `String(decoding:as:)` does.
  ///
  /// **Demand, failure, cancellation:** as in `framed(by:)`. **Policy:** holds one chunk, and at most three bytes of an
  /// incomplete character.
  public func utf8Text() -> Publishers.Framed<Self, UTF8Decoder, Publishers.NonThrowing<Failure>> {
    framed(by: UTF8Decoder())
  }
}

/// Decodes UTF-8 in chunks that may end within a character: see ``Publisher/utf8Text()``.
public struct UTF8Decoder: ChunkDecoder, Sendable {
  /// The first bytes of an incomplete character.
  private var rest = Chunk()
  private var whole = Chunk()

  public init() {}

  public mutating func feed(_ chunk: Chunk) {
    let bytes = rest.isEmpty ? chunk : Chunk(joining: [rest, chunk])
    let cut = bytes.count - Self.incompleteCount(at: bytes)
    (whole, rest) = (bytes.prefix(cut), bytes.dropFirst(cut).compacted())
  }

  public mutating func next() -> String? {
    guard !whole.isEmpty else { return nil }
    defer { whole = Chunk() }
    return whole.text
  }

  public mutating func finish() -> String? {
    (whole, rest) = (rest, Chunk())
    return next()
  }

  /// The number of bytes at the end that are the beginning of an incomplete, possibly valid character.
  private static func incompleteCount(at bytes: Chunk) -> Int {
    for back in 1...3 where back <= bytes.count {
      let byte = bytes[bytes.count - back]
      // A continuation byte: look further back for the first byte.
      if byte & 0xC0 == 0x80 { continue }
      let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1
      guard length > back, byte <= 0xF4 else { return 0 }
      // These bytes can't become a valid character anymore. Don't keep them: they are replaced now.
      if back > 1, !canFollow(byte, bytes[bytes.count - back + 1]) { return 0 }
      return back
    }
    return 0
  }

  /// True when `second` may follow `first` (Unicode, table 3-7).
  private static func canFollow(_ first: UInt8, _ second: UInt8) -> Bool {
    switch first {
    case 0xE0: second >= 0xA0
    case 0xED: second <= 0x9F
    case 0xF0: second >= 0x90
    case 0xF4: second <= 0x8F
    default: true
    }
  }
}
