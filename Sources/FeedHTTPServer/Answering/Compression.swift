internal import CZlib
internal import FeedStream

/// Compresses what is worth it, for clients that take gzip (RFC 9110, 12.5.3).
enum Compression {
  /// Shorter bodies gain nothing.
  static let least = 512
  /// What is compressed at a stretch.
  static let step = 64 * 1024

  static func apply(_ response: inout HTTPServer.Response, to head: RequestHead) {
    // First of all what is cheap to find out: most answers are short.
    if case .bytes(let bytes) = response.body, bytes.count < least { return }
    guard response.isCompressible, !response.status.hasNoBody, response.headers["Content-Encoding"] == nil,
      isWorthIt(response.headers["Content-Type"])
    else { return }
    let source: AnyPublisher<Chunk, any Error>
    switch response.body {
    case .bytes(let bytes):
      guard bytes.count >= least else { return }
      source = Just(bytes).setFailureType(to: (any Error).self).eraseToAnyPublisher()
    case .file(let file):
      guard file.range.count >= least else { return }
      source = FilePublisher(body: file).eraseToAnyPublisher()
    case .stream(let publisher, let length):
      guard length ?? .max >= least else { return }
      source = publisher
    case .none, .events: return
    }
    let vary = response.headers["Vary"]
    response.headers["Vary"] = vary.map { $0 + ", Accept-Encoding" } ?? "Accept-Encoding"
    let request = HTTPServer.Headers(head)
    guard request["Range"] == nil, takesGzip(request.values("Accept-Encoding")) else { return }
    response.headers["Content-Encoding"] = "gzip"
    // The bytes are others, what they say is the same.
    if let tag = response.headers["ETag"], !tag.hasPrefix("W/") { response.headers["ETag"] = "W/" + tag }
    if case .bytes(let bytes) = response.body, bytes.count <= step {
      var encoder = GzipEncoder()
      encoder.feed(bytes)
      var parts: [Chunk] = []
      while let part = encoder.next(isLast: true) { parts.append(part) }
      response.body = .bytes(Chunk(joining: parts))
    } else {
      response.headers["Accept-Ranges"] = nil
      let compressed = source.framed(by: GzipEncoder()).eraseFailureType()
      response.body = .stream(compressed.eraseToAnyPublisher(), length: nil)
    }
  }

  private static func isWorthIt(_ type: String?) -> Bool {
    guard let type = type?.prefix(while: { $0 != ";" && $0 != " " }).lowercased() else { return false }
    return type.hasPrefix("text/") && type != "text/event-stream" || type.hasSuffix("+json") || type.hasSuffix("+xml")
      || ["application/json", "application/xml", "application/javascript", "image/svg+xml"].contains(type)
  }

  /// True when the lists accept gzip, and say so: a client that says nothing may take nothing.
  static func takesGzip(_ lists: [String]) -> Bool {
    var (gzip, any): (Bool?, Bool?) = (nil, nil)
    for member in lists.joined(separator: ",").split(separator: ",") {
      let parts = member.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
      guard let coding = parts.first else { continue }
      let isWanted = !parts.dropFirst().contains { weight in
        weight.hasPrefix("q=0") && weight.dropFirst(3).allSatisfy { $0 == "." || $0 == "0" }
      }
      if coding == "gzip" || coding == "x-gzip" { gzip = isWanted }
      if coding == "*" { any = isWanted }
    }
    return gzip ?? any ?? false
  }
}

/// Compresses chunks, each so that what it says can be read as soon as it arrives.
struct GzipEncoder: ChunkDecoder {
  typealias DecodingFailure = Never

  private let stream = ZStream()
  private var rest = Chunk()
  /// What was fed has not come out in full.
  private var isFed = false
  private var isOver = false

  mutating func feed(_ chunk: Chunk) {
    rest = chunk
    isFed = !chunk.isEmpty
  }

  mutating func next() -> Chunk? { next(isLast: false) }
  mutating func finish() -> Chunk? { next(isLast: true) }

  mutating func next(isLast: Bool) -> Chunk? {
    while isFed || isLast && !isOver {
      // No more than a stretch in one call, so that the loop has its turns.
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

/// zlib's state, and the memory that it writes to.
private final class ZStream {
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private var buffer = [UInt8](repeating: 0, count: 16 * 1024)

  init() {
    stream.initialize(to: z_stream())
    let code = czlib_begin_gzip(stream, 6)
    precondition(code == Z_OK, "HTTPServer: zlib has no memory")
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  /// - Returns: how much was taken, what came out, and true when more of that may come.
  func deflate(_ chunk: Chunk, _ flush: Int32) -> (consumed: Int, output: Chunk, isFull: Bool) {
    chunk.withUnsafeBytes { input in
      buffer.withUnsafeMutableBytes { output in
        // zlib only reads its input; its header does not say so.
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: input.baseAddress?.assumingMemoryBound(to: UInt8.self))
        stream.pointee.avail_in = uInt(input.count)
        stream.pointee.next_out = output.baseAddress!.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_out = uInt(output.count)
        _ = CZlib.deflate(stream, flush)
        let written = output.count - Int(stream.pointee.avail_out)
        let bytes = Chunk(copying: UnsafeRawBufferPointer(rebasing: output[..<written]))
        return (input.count - Int(stream.pointee.avail_in), bytes, stream.pointee.avail_out == 0)
      }
    }
  }
}
