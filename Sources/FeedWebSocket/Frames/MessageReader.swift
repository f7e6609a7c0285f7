package import FeedStream

/// Parses messages and control frames from bytes that are split anywhere. It does nothing else, so it can be fuzzed.
///
/// It reports a violation of the protocol or of a limit at the first offending byte.
package struct MessageReader: ~Copyable {
  package enum Event: Equatable {
    case message(WebSocketMessage)
    case ping(Chunk)
    case pong(Chunk)
    case close(WebSocketClose)
    /// A message has begun, but there is no demand.
    case held
  }

  private let isServer: Bool
  private let limits: WebSocketLimits
  private let inflating: InflateContext?
  private var input = Chunk()

  // The frame that is being read.
  private var header: FrameHeader?
  private var left = 0
  private var control: [UInt8] = []

  // The message that is being read.
  private var isInMessage = false
  private var isText = false
  private var isCompressed = false
  private var compressedCount = 0
  private var utf8 = UTF8Checker()
  private var message = MessageBuffer()
  /// A message that arrived in one piece.
  private var whole: Chunk?

  /// - Parameters:
  ///   - isServer: true to read frames from a client.
  ///   - compression: the negotiated terms; `nil` if messages aren't compressed.
  package init(isServer: Bool, limits: WebSocketLimits = WebSocketLimits(), compression: DeflateTerms? = nil) {
    self.isServer = isServer
    self.limits = limits
    inflating = compression.map { InflateContext(keepsWindow: $0.keepsWindow(sentByServer: !isServer)) }
  }

  /// True if there are unread bytes.
  package var hasInput: Bool { !input.isEmpty }

  /// Receives the next bytes.
  package mutating func feed(_ chunk: Chunk) {
    input = input.isEmpty ? chunk : Chunk(joining: [input, chunk])
  }

  /// Releases memory that the unread bytes don't need.
  package mutating func compact() { if !input.isEmpty { input = input.compacted() } }

  /// The next result from the bytes; `nil` if more bytes are needed.
  ///
  /// - Parameter wantsMessage: false to stop at the beginning of a message, and read only control frames before it.
  package mutating func next(wantsMessage: Bool = true) throws(ProtocolFailure) -> Event? {
    while true {
      if header == nil, try !beginFrame() { return nil }
      guard let header else { return nil }
      guard header.opcode.isControl || wantsMessage else { return .held }
      let part = left <= input.count ? input[0..<left] : input
      if header.opcode.isControl {
        take(control: part, header)
      } else {
        try take(part, header)
      }
      left -= part.count
      input = part.count == input.count ? Chunk() : input[part.count..<input.count]
      guard left == 0 else { return nil }
      self.header = nil
      if let event = try endFrame(header) { return event }
    }
  }

  // MARK: Frames

  /// - Returns: false when more bytes are needed.
  private mutating func beginFrame() throws(ProtocolFailure) -> Bool {
    let (isServer, mayCompress) = (self.isServer, inflating != nil)
    let parsed = try input.withUnsafeBytes { (bytes) throws(ProtocolFailure) in
      try FrameHeader.parse(bytes, isMasked: isServer, mayCompress: mayCompress)
    }
    guard let (header, length) = parsed else { return false }
    if !header.opcode.isControl {
      if header.opcode == .continuation {
        guard isInMessage else { throw .strayContinuation }
      } else {
        guard !isInMessage else { throw .interleaved }
        (isInMessage, isText, isCompressed) = (true, header.opcode == .text, header.isCompressed)
        compressedCount = 0
      }
      guard header.count <= limits.frameBytes else { throw .frameTooLarge(limit: limits.frameBytes) }
      guard isCompressed || header.count <= limits.messageBytes - message.count else {
        throw .messageTooLarge(limit: limits.messageBytes)
      }
    }
    self.header = header
    left = header.count
    input = length == input.count ? Chunk() : input[length..<input.count]
    return true
  }

  private mutating func endFrame(_ header: FrameHeader) throws(ProtocolFailure) -> Event? {
    switch header.opcode {
    case .ping, .pong, .close:
      let payload = control
      control = []
      if header.opcode == .close { return .close(try Self.close(payload)) }
      return header.opcode == .ping ? .ping(Chunk(payload)) : .pong(Chunk(payload))
    case .text, .binary, .continuation:
      guard header.isFinal else { return nil }
      if isCompressed, compressedCount > 0 { try inflate(Self.tail, isLast: true) }
      guard !isText || utf8.isComplete else { throw .invalidText }
      isInMessage = false
      utf8 = UTF8Checker()
      let bytes = whole ?? message.take()
      whole = nil
      return .message(WebSocketMessage(isText: isText, bytes))
    }
  }

  private mutating func take(control part: Chunk, _ header: FrameHeader) {
    let offset = header.count - left
    control.append(contentsOf: part)
    guard let mask = header.mask, !part.isEmpty else { return }
    control.withUnsafeMutableBytes { bytes in
      let place = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
      Masking.apply(mask, at: offset, from: UnsafeRawBufferPointer(place), to: place.baseAddress!)
    }
  }

  private static func close(_ payload: [UInt8]) throws(ProtocolFailure) -> WebSocketClose {
    guard !payload.isEmpty else { return WebSocketClose(nil) }
    guard payload.count >= 2 else { throw .shortClose }
    let number = Int(payload[0]) << 8 | Int(payload[1])
    guard WebSocketCloseCode.maySend(number) else { throw .closeCode(number) }
    guard let reason = String(validating: payload[2...], as: UTF8.self) else { throw .invalidReason }
    return WebSocketClose(WebSocketCloseCode(received: number), reason)
  }

  // MARK: Messages

  private mutating func take(_ part: Chunk, _ header: FrameHeader) throws(ProtocolFailure) {
    guard !part.isEmpty else { return }
    let offset = header.count - left
    if isCompressed {
      compressedCount += part.count
      return try inflate(Self.plain(part, header.mask, at: offset), isLast: false)
    }
    if header.isFinal, message.count == 0, part.count == header.count {
      let plain = Self.plain(part, header.mask, at: 0)
      guard !isText || plain.withUnsafeBytes({ utf8.check($0) }) else { throw .invalidText }
      // A short message must not retain the block that it was read into.
      whole = plain.compacted()
      return
    }
    let room = message.room(for: part.count)
    part.withUnsafeBytes { bytes in
      if let mask = header.mask {
        Masking.apply(mask, at: offset, from: bytes, to: room)
      } else {
        room.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      }
    }
    try count(part.count)
  }

  private static func plain(_ part: Chunk, _ mask: UInt32?, at offset: Int) -> Chunk {
    guard let mask else { return part }
    return Chunk(capacity: part.count) { room in
      part.withUnsafeBytes { Masking.apply(mask, at: offset, from: $0, to: room.baseAddress!) }
      return part.count
    }
  }

  /// The bytes that a sender omits at the end of a compressed message (RFC 7692, 7.2.1).
  private static let tail = Chunk([0x00, 0x00, 0xFF, 0xFF])

  private mutating func inflate(_ part: Chunk, isLast: Bool) throws(ProtocolFailure) {
    guard let inflating else { throw .badCompression }
    inflating.feed(part)
    while true {
      // One byte more than allowed is enough to detect a message that is too large.
      let most = min(16 * 1024 - 1, limits.messageBytes - message.count) + 1
      let (written, isDone) = try inflating.inflate(to: message.room(for: most), most)
      try count(written)
      if isDone { break }
    }
    if isLast { try inflating.end() }
  }

  /// Adds bytes that have been written to the message's memory.
  private mutating func count(_ more: Int) throws(ProtocolFailure) {
    let bytes = message.advance(by: more)
    guard !isText || utf8.check(bytes) else { throw .invalidText }
    guard message.count <= limits.messageBytes else { throw .messageTooLarge(limit: limits.messageBytes) }
  }
}
