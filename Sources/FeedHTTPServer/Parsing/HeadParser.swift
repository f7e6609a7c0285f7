import CLibrary
internal import FeedStream

/// Parses the head of a request, or the trailer section of a chunked body, from bytes that may be split anywhere (RFC
/// 9112).
///
/// The parser works byte by byte, so an invalid request is refused at its first invalid byte, regardless of how the
/// bytes are split. A head within one chunk is not copied.
struct HeadParser {
  enum Result: Equatable {
    /// All bytes are consumed, and more are needed.
    case incomplete
    /// The head ends after `consumed` bytes of the chunk; the head is in ``HeadParser/head``.
    case complete(consumed: Int)
    case failure(ParseFailure)
  }

  enum State: UInt8 {
    case start, startLF
    case method, target, version, versionLF
    case fieldStart, name, valueStart, value, valueLF
    case endLF

    /// True if no part of a request has arrived, except empty lines before it.
    var isUntouched: Bool { self == .start || self == .startLF }
  }

  private(set) var head = RequestHead()
  private let limits: HTTPServerLimits
  /// True for the trailers of a chunked body.
  let isTrailer: Bool
  private(set) var state: State
  /// The number of bytes that have been parsed.
  private var position = 0
  /// The bytes that have arrived so far, if the head comes in several chunks.
  private var partial: [UInt8] = []
  /// The positions at which the line, the fields and the current part begin.
  private var lineStart = 0
  private var fieldsStart = 0
  private var start = 0
  private var name = Place(0, 0)
  private var emptyLines = 0
  private var framing = FramingRules()

  init(_ limits: HTTPServerLimits, isTrailer: Bool = false) {
    self.limits = limits
    self.isTrailer = isTrailer
    state = isTrailer ? .fieldStart : .start
    framing.isTrailer = isTrailer
  }

  /// Starts over with the head of another request.
  mutating func reset() {
    head = RequestHead()
    state = .start
    (position, lineStart, fieldsStart, start, emptyLines) = (0, 0, 0, 0, 0)
    framing = FramingRules()
  }

  /// True once the method is known to be HEAD: the response then has no body, even if the request is refused.
  var isHead: Bool { head.method == .head && !state.isUntouched && state != .method }

  mutating func feed(_ chunk: Chunk) -> Result {
    if partial.isEmpty {
      let result = chunk.withUnsafeBytes { run($0) }
      switch result {
      case .incomplete: partial.append(contentsOf: chunk)
      case .complete(let end): head.bytes = chunk[0..<end]
      case .failure: break
      }
      return result
    }
    var bytes: [UInt8] = []
    swap(&bytes, &partial)
    let before = bytes.count
    bytes.append(contentsOf: chunk)
    let result = bytes.withUnsafeBytes { run($0) }
    switch result {
    case .incomplete: swap(&bytes, &partial)
    case .complete(let end):
      head.bytes = Chunk(bytes[0..<end])
      return .complete(consumed: end - before)
    case .failure: break
    }
    return result
  }

  private mutating func run(_ bytes: UnsafeRawBufferPointer) -> Result {
    do throws(ParseFailure) {
      guard try advance(bytes) else { return .incomplete }
      return .complete(consumed: position)
    } catch {
      return .failure(error)
    }
  }

  /// - Returns: true when the head is complete.
  private mutating func advance(_ bytes: UnsafeRawBufferPointer) throws(ParseFailure) -> Bool {
    guard let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return false }
    let classes = ByteClass.table
    var at = position
    defer { position = at }
    while true {
      let limit = isInLine ? lineStart + limits.requestLineBytes : fieldsStart + limits.headerBytes
      let end = min(bytes.count, limit)
      guard at < end else {
        if at < bytes.count { throw tooLong }
        return false
      }
      let byte = base[at]
      switch state {
      case .start:
        if byte == 0x0D {
          // Empty lines before a request are ignored: a client may send one after a body (2.2).
          emptyLines += 1
          guard emptyLines <= 4 else { throw ParseFailure("too many empty lines before the request") }
          state = .startLF
          at += 1
        } else {
          guard classes[Int(byte)] & ByteClass.token != 0 else { throw ParseFailure("an invalid method") }
          (lineStart, start, state) = (at, at, .method)
        }
      case .startLF:
        guard byte == 0x0A else { throw ParseFailure("a carriage return without a line feed") }
        state = .start
        at += 1

      // If a part ends within the bytes, the next one is parsed without another dispatch on the state.
      case .method:
        while at < end, classes[Int(base[at])] & ByteClass.token != 0 { at &+= 1 }
        guard at - start <= 32 else { throw ParseFailure(.notImplemented, "the method is too long") }
        guard at < end else { continue }
        guard base[at] == 0x20 else { throw ParseFailure("an invalid method") }
        head.method = HTTPMethod(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<at]))
        at += 1
        (start, state) = (at, .target)
        fallthrough
      case .target:
        while at < end, classes[Int(base[at])] & ByteClass.target != 0 { at &+= 1 }
        guard at < end else { continue }
        guard base[at] == 0x20, at > start else { throw ParseFailure("an invalid target") }
        head.target = Place(start, at)
        at += 1
        (start, state) = (at, .version)
        guard at < end else { continue }
        fallthrough
      case .version:
        let byte = base[at]
        let index = at - start
        if index == 0, end - at > 8, memcmp(base + at, "HTTP/1.1\r", 9) == 0 {
          at += 8
          state = .versionLF
        } else if index < 8 {
          let pattern: StaticString = "HTTP/1.1"
          let isDigit = classes[Int(byte)] & ByteClass.digit != 0
          guard index == 5 || index == 7 ? isDigit : byte == pattern.utf8Start[index] else {
            throw ParseFailure("an invalid HTTP version")
          }
        } else {
          guard byte == 0x0D else { throw ParseFailure("an invalid HTTP version") }
          state = .versionLF
        }
        at += 1
      case .versionLF:
        guard byte == 0x0A else { throw ParseFailure("a carriage return without a line feed") }
        guard base[start + 5] == UInt8(ascii: "1") else {
          throw ParseFailure(.versionNotSupported, "this server speaks HTTP/1.1")
        }
        head.minorVersion = base[start + 7] == UInt8(ascii: "0") ? 0 : 1
        try TargetRules.check(head, bytes)
        at += 1
        (fieldsStart, state) = (at, .fieldStart)

      case .fieldStart:
        if byte == 0x0D {
          state = .endLF
          at += 1
        } else if classes[Int(byte)] & ByteClass.token != 0 {
          guard head.fields.count < limits.headerCount else {
            throw ParseFailure(.headerFieldsTooLarge, "too many header fields")
          }
          (start, state) = (at, .name)
          fallthrough
        } else if byte == 0x20 || byte == 0x09 {
          throw ParseFailure("a folded line, or space before a header field")
        } else {
          throw ParseFailure("an invalid header field name")
        }
      case .name:
        while at < end, classes[Int(base[at])] & ByteClass.token != 0 { at &+= 1 }
        guard at < end else { continue }
        guard base[at] == UInt8(ascii: ":") else {
          throw base[at] == 0x20 || base[at] == 0x09
            ? ParseFailure("space before the colon of a header field") : ParseFailure("an invalid header field name")
        }
        name = Place(start, at)
        at += 1
        state = .valueStart
        fallthrough
      case .valueStart:
        while at < end, base[at] == 0x20 || base[at] == 0x09 { at &+= 1 }
        guard at < end else { continue }
        (start, state) = (at, .value)
        fallthrough
      case .value:
        while at < end, classes[Int(base[at])] & ByteClass.text != 0 { at &+= 1 }
        guard at < end else { continue }
        guard base[at] == 0x0D else {
          throw base[at] == 0x0A
            ? ParseFailure("a line feed without a carriage return")
            : ParseFailure("a control character in a header field")
        }
        at += 1
        state = .valueLF
        guard at < end else { continue }
        fallthrough
      case .valueLF:
        guard base[at] == 0x0A else { throw ParseFailure("a carriage return without a line feed") }
        var last = at - 1
        while last > start, base[last - 1] == 0x20 || base[last - 1] == 0x09 { last -= 1 }
        let field = FieldPlace(name: name, value: Place(start, last))
        if head.fields.isEmpty { head.fields.reserveCapacity(16) }
        head.fields.append(field)
        try framing.take(field, bytes, head)
        at += 1
        state = .fieldStart
      case .endLF:
        guard byte == 0x0A else { throw ParseFailure("a carriage return without a line feed") }
        at += 1
        if !isTrailer { try framing.conclude(head, bytes) }
        return true
      }
    }
  }

  /// True until the end of the request line.
  private var isInLine: Bool { state.rawValue <= State.versionLF.rawValue }

  private var tooLong: ParseFailure {
    isInLine
      ? ParseFailure(.uriTooLong, "the request line is too long")
      : ParseFailure(.headerFieldsTooLarge, "the header is too long")
  }
}
