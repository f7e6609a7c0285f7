internal import CZlib
internal import FeedStream

/// Compresses bodies for clients that accept gzip, if the bodies benefit from it (RFC 9110, 12.5.3).
enum Compression {
  /// The length below which compression isn't worthwhile.
  static let least = 512
  /// The number of bytes that are compressed in one step.
  static let step = 64 * 1024
  /// Bodies up to this length are compressed before they are sent, so that a slow client doesn't keep the body or the
  /// compressor's memory (a quarter of a mebibyte) in use.
  static let mostWhole = 256 * 1024

  /// Decides whether a response is sent compressed, and sets its fields accordingly.
  struct Choice {
    /// True if the response depends on whether the client accepts gzip.
    private let isThere: Bool
    private let isTaken: Bool

    init(_ response: ServerResponse, _ head: RequestHead) {
      // The cheapest checks come first: most responses are short.
      let count: Int =
        switch response.body {
        case .bytes(let bytes): bytes.count
        case .file(let file): file.range.count
        case .stream(_, let length): length ?? .max
        case .none, .endless, .upgrade: 0
        }
      isThere =
        count >= least && response.isCompressible && !response.status.hasNoBody
        && response.headers["Content-Encoding"] == nil && isWorthIt(response.headers["Content-Type"])
      guard isThere else {
        isTaken = false
        return
      }
      isTaken = !head.asksForPart && takesGzip(HTTPHeaders(head).values(of: "Accept-Encoding"))
    }

    /// Adds `Vary`, even to a part and to a 304, because caches store the field with them (RFC 9110, 15.4.5).
    func announce(in response: inout ServerResponse) {
      guard isThere else { return }
      let lists = response.headers.values(of: "Vary")
      let names = lists.flatMap(\.listMembers).map { $0.lowercased() }
      if !names.contains("*"), !names.contains("accept-encoding") {
        response.headers["Vary"] = (lists + ["Accept-Encoding"]).joined(separator: ", ")
      }
    }

    /// Makes the tag weak: the compressed bytes differ, but the content is the same.
    func weakenTag(of response: inout ServerResponse) {
      guard isTaken, let tag = response.headers["ETag"], !tag.hasPrefix("W/") else { return }
      response.headers["ETag"] = "W/" + tag
    }

    func apply(to response: inout ServerResponse) {
      guard isTaken else { return }
      response.headers["Content-Encoding"] = "gzip"
      weakenTag(of: &response)
      let source: AnyPublisher<Chunk, any Error>
      var length: Int?
      switch response.body {
      case .bytes(let bytes) where bytes.count <= mostWhole:
        var encoder = GzipEncoder()
        encoder.feed(bytes)
        var parts: [Chunk] = []
        while let part = encoder.next(isLast: true) { parts.append(part) }
        response.body = .bytes(Chunk(joining: parts))
        return
      case .bytes(let bytes): source = Just(bytes).setFailureType(to: (any Error).self).eraseToAnyPublisher()
      case .file(let file): source = file.chunks.eraseFailureType().eraseToAnyPublisher()
      case .stream(let publisher, let announced):
        source = publisher
        length = announced
      case .none, .endless, .upgrade: return
      }
      response.headers["Accept-Ranges"] = nil
      let compressed = source.framed(by: GzipEncoder(length: length)).eraseFailureType()
      response.body = .stream(compressed.eraseToAnyPublisher(), length: nil)
    }
  }

  private static func isWorthIt(_ type: String?) -> Bool {
    guard let type = type?.prefix(while: { $0 != ";" && $0 != " " }).lowercased() else { return false }
    return type.hasPrefix("text/") && type != "text/event-stream" || type.hasSuffix("+json") || type.hasSuffix("+xml")
      || ["application/json", "application/xml", "application/javascript", "image/svg+xml"].contains(type)
  }

  /// True only if the lists accept gzip explicitly: a client that doesn't send the field may not support gzip. A client
  /// that prefers uncompressed bytes gets those.
  static func takesGzip(_ lists: [String]) -> Bool {
    var (gzip, plain, any): (Double?, Double?, Double?) = (nil, nil, nil)
    for member in lists.flatMap(\.listMembers) {
      let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let coding = parts.first else { continue }
      let weight = weight(parts.dropFirst())
      switch coding {
      case "gzip", "x-gzip": gzip = weight
      case "identity": plain = weight
      case "*": any = weight
      default: break
      }
    }
    let wanted = gzip ?? any ?? 0
    return wanted > 0 && wanted >= plain ?? 0
  }

  /// The weight of a coding: 1 by default (RFC 9110, 12.4.2).
  private static func weight(_ parameters: ArraySlice<String>) -> Double {
    guard let text = parameters.first(where: { $0.hasPrefix("q=") })?.dropFirst(2),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
    else { return 1 }
    return Double(text) ?? 1
  }
}

/// Compresses chunks, each of which can be decompressed as soon as it arrives.
struct GzipEncoder: ChunkDecoder {
  typealias DecodingFailure = any Error
  /// The body is longer than announced; the announced bytes have been compressed.
  struct Surplus: Error {}

  private let stream = ZStream()
  /// The number of announced bytes that have not arrived yet; `nil` if the length is unknown.
  private var left: Int?
  private var hasSurplus = false
  private var rest = Chunk()
  /// True if the output for some input bytes is incomplete.
  private var isFed = false
  private var isOver = false

  /// - Parameter length: the announced length of the body, which the compressed response doesn't tell the client.
  init(length: Int? = nil) { left = length }

  mutating func feed(_ chunk: Chunk) {
    rest = chunk.prefix(left ?? chunk.count)
    left? -= rest.count
    hasSurplus = rest.count < chunk.count
    isFed = !rest.isEmpty
  }

  mutating func next() throws -> Chunk? {
    let output = next(isLast: hasSurplus)
    if output == nil, hasSurplus { throw Surplus() }
    return output
  }

  mutating func finish() throws -> Chunk? {
    if let left, left > 0 { throw ServerResponseError.bodyTooShort(missing: left) }
    return next(isLast: true)
  }

  mutating func next(isLast: Bool) -> Chunk? {
    while isFed || isLast && !isOver {
      // At most one step per call, so that other work on the loop gets its turn.
      let part = rest.prefix(Compression.step)
      let isEnd = part.count == rest.count
      let (consumed, output, isFull) = stream.deflate(part, isEnd ? (isLast ? Z_FINISH : Z_SYNC_FLUSH) : Z_NO_FLUSH)
      rest = rest[consumed..<rest.count]
      if rest.isEmpty, !isFull {
        isFed = false
        if isLast { isOver = true }
      }
      if !output.isEmpty { return output }
    }
    return nil
  }
}

/// zlib's state, and the memory to which it writes.
private final class ZStream {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

  init() {
    stream.initialize(to: z_stream())
    let code = czlib_begin_gzip(stream, 6)
    precondition(code == Z_OK, "HTTPServer: zlib is out of memory")
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// - Returns: the number of bytes consumed, the output, and true if more output may follow.
  func deflate(_ chunk: Chunk, _ flush: Int32) -> (consumed: Int, output: Chunk, isFull: Bool) {
    chunk.withUnsafeBytes { input in
      buffer.withUnsafeMutableBytes { output in
        czlib_set_buffers(stream, input.baseAddress, uInt(input.count), output.baseAddress, uInt(output.count))
        _ = CZlib.deflate(stream, flush)
        let written = output.count - Int(stream.pointee.avail_out)
        let bytes = Chunk(copying: UnsafeRawBufferPointer(rebasing: output[..<written]))
        return (input.count - Int(stream.pointee.avail_in), bytes, stream.pointee.avail_out == 0)
      }
    }
  }
}
