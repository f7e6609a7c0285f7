internal import FeedStream

/// Reads a chunked body, and its trailers (RFC 9112, 7.1).
///
/// This is a class so that a connection without such a body needs no space for its state.
final class ChunkedDecoder {
  enum Step: Equatable {
    /// Bytes of the body; not empty.
    case data(Chunk)
    /// Bytes of the body are available, but have not been requested.
    case dataWaits
    /// All bytes are consumed, and more are needed.
    case needsMore
    /// The body and its trailers are complete; the trailers are in ``ChunkedDecoder/trailers``.
    case finished
    case failure(ParseFailure)
  }

  private enum State {
    case size, sizeLF
    // An extension, `; name = "value"`. In order: after the size, after the semicolon, in the name, after the name,
    // after the equals sign, in the value, in a quoted value, after its backslash, after the value.
    case afterSize, beforeName, name, afterName, beforeValue, value, quoted, escaped, afterValue
    case data, dataCR, dataLF
    case trailer, finished
  }

  private var state = State.size
  private var size = 0
  private var digits = 0
  /// The number of bytes of the current chunk that have not arrived yet.
  private var left = 0
  /// The number of bytes in all chunks so far, and the limit.
  private var total = 0
  private let limit: Int
  private var extensionBytes = 0
  private var trailer: HeadParser

  /// The trailers, when the body is finished.
  var trailers: RequestHead { trailer.head }

  init(_ limits: HTTPServerLimits, bodyBytes: Int? = nil) {
    trailer = HeadParser(limits, isTrailer: true)
    limit = bodyBytes ?? limits.bodyBytes
  }

  /// The maximum number of extension bytes in all chunks: extensions are not used, but take time to parse.
  static let extensionLimit = 8 * 1024

  /// Consumes bytes from the beginning of `input` until there is a result.
  ///
  /// - Parameter givesData: false to stop before the next bytes of the body.
  func next(_ input: inout Chunk, givesData: Bool = true) -> Step {
    do throws(ParseFailure) {
      return try step(&input, givesData)
    } catch {
      return .failure(error)
    }
  }

  private func step(_ input: inout Chunk, _ givesData: Bool) throws(ParseFailure) -> Step {
    while true {
      switch state {
      case .finished: return .finished
      case .trailer:
        guard !input.isEmpty else { return .needsMore }
        switch trailer.feed(input) {
        case .incomplete: input = Chunk()
        case .failure(let failure): throw failure
        case .complete(let consumed):
          input = input[consumed..<input.count]
          state = .finished
        }
      case .data:
        guard !input.isEmpty else { return .needsMore }
        guard givesData else { return .dataWaits }
        let count = min(left, input.count)
        let data = input[0..<count]
        input = input[count..<input.count]
        left -= count
        if left == 0 { state = .dataCR }
        return .data(data)
      default:
        let consumed = try input.withUnsafeBytes { (bytes) throws(ParseFailure) in try self.readLine(bytes) }
        input = input[consumed..<input.count]
        if input.isEmpty, state != .data, state != .trailer { return .needsMore }
      }
    }
  }

  /// Reads the bytes between the data of two chunks.
  ///
  /// - Returns: the number of bytes.
  private func readLine(_ bytes: UnsafeRawBufferPointer) throws(ParseFailure) -> Int {
    for (index, byte) in bytes.enumerated() {
      switch state {
      case .dataCR:
        guard byte == 0x0D else { throw ParseFailure("a chunk is longer than its declared size") }
        state = .dataLF
      case .dataLF:
        guard byte == 0x0A else { throw ParseFailure("a chunk is longer than its declared size") }
        (state, size, digits) = (.size, 0, 0)
      case .size:
        if let value = ByteClass.hexValue(byte) {
          digits += 1
          guard digits <= 16, size < 1 << 58 else { throw ParseFailure("a chunk's size is too large") }
          size = size << 4 | Int(value)
        } else {
          guard digits > 0 else { throw ParseFailure("an invalid chunk size") }
          try endOfPart(byte, orSpace: .afterSize)
        }
      case .sizeLF:
        guard byte == 0x0A else { throw ParseFailure("a carriage return without a line feed") }
        // Checked before any of the chunk arrives.
        guard size <= limit - total else { throw ParseFailure(.contentTooLarge, "the body is too large") }
        total += size
        left = size
        state = size == 0 ? .trailer : .data
        return index + 1
      default: try readExtension(byte)
      }
    }
    return bytes.count
  }

  /// Reads the byte after a size, a name or a value: the start of an extension, or the end of the line.
  private func endOfPart(_ byte: UInt8, orSpace space: State?) throws(ParseFailure) {
    switch byte {
    case UInt8(ascii: ";"): state = .beforeName
    case 0x0D where state != .afterSize && state != .afterName: state = .sizeLF
    case 0x20, 0x09:
      guard let space else { throw ParseFailure("an invalid chunk extension") }
      state = space
    case 0x0A: throw ParseFailure("a line feed without a carriage return")
    default: throw ParseFailure("an invalid chunk size or extension")
    }
  }

  private func readExtension(_ byte: UInt8) throws(ParseFailure) {
    extensionBytes += 1
    guard extensionBytes <= Self.extensionLimit else { throw ParseFailure("the chunk extensions are too long") }
    let isToken = ByteClass.table[Int(byte)] & ByteClass.token != 0
    let isSpace = byte == 0x20 || byte == 0x09
    switch state {
    case .afterSize: try endOfPart(byte, orSpace: .afterSize)
    case .beforeName:
      if isToken { state = .name } else if !isSpace { throw ParseFailure("an invalid chunk extension") }
    case .name where isToken: break
    case .name, .afterName:
      if byte == UInt8(ascii: "=") { state = .beforeValue } else { try endOfPart(byte, orSpace: .afterName) }
    case .beforeValue:
      if isToken {
        state = .value
      } else if byte == UInt8(ascii: "\"") {
        state = .quoted
      } else if !isSpace {
        throw ParseFailure("an invalid chunk extension")
      }
    case .value where isToken: break
    case .value: try endOfPart(byte, orSpace: .afterSize)
    case .quoted:
      if byte == UInt8(ascii: "\"") {
        state = .afterValue
      } else if byte == UInt8(ascii: "\\") {
        state = .escaped
      } else if ByteClass.table[Int(byte)] & ByteClass.text == 0 {
        throw ParseFailure("a control character in a chunk extension")
      }
    case .escaped:
      guard ByteClass.table[Int(byte)] & ByteClass.text != 0 else {
        throw ParseFailure("a control character in a chunk extension")
      }
      state = .quoted
    default: try endOfPart(byte, orSpace: .afterSize)
    }
  }
}
