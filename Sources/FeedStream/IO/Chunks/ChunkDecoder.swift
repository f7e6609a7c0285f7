/// Makes values from bytes in chunks of any size, for `framed(by:)`.
///
/// A decoder is a plain value. The operator manages demand: it feeds a chunk to the decoder, calls `next()` until it
/// returns `nil`, and then feeds the next chunk.
///
///     struct Records: ChunkDecoder {
///       var rest = Chunk()
///
///       mutating func feed(_ chunk: Chunk) { rest = Chunk(joining: [rest, chunk]) }
///
///       mutating func next() throws(TornRecord) -> Chunk? {          // records of four bytes
///         guard rest.count >= 4 else { return nil }
///         defer { rest = rest.dropFirst(4) }
///         return rest.prefix(4)
///       }
///
///       mutating func finish() throws(TornRecord) -> Chunk? {
///         if rest.isEmpty { nil } else { throw TornRecord() }
///       }
///     }
public protocol ChunkDecoder<Output> {
  associatedtype Output
  /// The type of the errors that the decoder throws; `Never` if all bytes are valid.
  associatedtype DecodingFailure: Error

  /// Receives the next bytes. Called first, and then each time ``next()`` has returned `nil`.
  mutating func feed(_ chunk: Chunk)

  /// Returns the next value from the received bytes, or `nil` if more are needed.
  mutating func next() throws(DecodingFailure) -> Output?

  /// Returns the next value from the remaining bytes when no more will arrive. Called until it returns `nil`.
  mutating func finish() throws(DecodingFailure) -> Output?
}

/// The reason why bytes could not be decoded.
public enum ChunkError: Error, Hashable, Sendable {
  /// A line or a part between separators is longer than `limit` bytes.
  case partTooLong(limit: Int)
  /// A frame declares `length` bytes, which is more than `limit`.
  case frameTooLong(length: Int, limit: Int)
  /// The bytes ended in the middle of a frame, of which `count` bytes had arrived.
  case torn(count: Int)
  /// There are more than `limit` bytes.
  case tooMany(limit: Int)
}

extension ChunkError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .partTooLong(let limit): "a line or part is longer than \(Self.bytes(limit)); raise maxLength to allow that"
    case .frameTooLong(let length, let limit):
      "a frame of \(Self.bytes(length)) was announced, but the limit is \(Self.bytes(limit)); raise maxLength to allow that"
    case .torn(let count): "the bytes ended in the middle of a frame, \(Self.bytes(count)) after it began"
    case .tooMany(let limit): "the joined bytes are longer than \(Self.bytes(limit)); raise the limit to allow that"
    }
  }

  private static func bytes(_ count: Int) -> String { "\(count) \(count == 1 ? "byte" : "bytes")" }
}
