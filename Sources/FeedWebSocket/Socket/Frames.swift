internal import FeedStream

/// Encodes frames.
enum Frames {
  /// A control frame, which has at most 125 bytes.
  static func control(_ opcode: Opcode, _ payload: Chunk, mask: UInt32?) -> Chunk {
    whole(FrameHeader(opcode, mask: mask, count: payload.count), payload)
  }

  static func close(_ close: WebSocketClose, mask: UInt32?) -> Chunk {
    guard let code = close.code else { return control(.close, Chunk(), mask: mask) }
    let bytes = [UInt8(code.number >> 8), UInt8(code.number & 0xFF)] + Array(close.reason.utf8.prefix(123))
    return control(.close, Chunk(bytes), mask: mask)
  }

  /// A whole frame in its own memory.
  static func whole(_ header: FrameHeader, _ payload: Chunk) -> Chunk {
    Chunk(capacity: FrameHeader.longest + payload.count) { room in
      let start = header.write(to: room)
      payload.withUnsafeBytes { bytes in
        guard let base = bytes.baseAddress, bytes.count > 0 else { return }
        let place = room.baseAddress! + start
        if let mask = header.mask {
          Masking.apply(mask, at: 0, from: bytes, to: place)
        } else {
          place.copyMemory(from: base, byteCount: bytes.count)
        }
      }
      return start + payload.count
    }
  }

  static func head(_ header: FrameHeader) -> Chunk {
    Chunk(capacity: FrameHeader.longest) { header.write(to: $0) }
  }
}

/// A message that is being sent, in parts.
struct OutgoingMessage {
  let message: WebSocketMessage
  let isCompressed: Bool
  private var offset = 0
  private var mask: UInt32?

  /// True in the middle of a frame, where no other frame may be sent.
  private(set) var isWithinFrame = false

  /// The maximum number of bytes that are compressed or masked at a time.
  static let step = 64 * 1024
  /// The longest payload that is copied into one block of memory with its header.
  static let mostCopied = 4096

  init(_ message: WebSocketMessage, isCompressed: Bool) {
    self.message = message
    self.isCompressed = isCompressed
  }

  /// The next bytes of the message, and true if they are the last.
  mutating func next(_ deflating: DeflateContext?, _ masks: MaskMaker?) -> (chunks: [Chunk], isLast: Bool) {
    let count = message.bytes.count
    let end = min(offset + Self.step, count)
    let (start, isLast) = (offset, end == count)
    let part = message.bytes[start..<end]
    offset = end
    let opcode: Opcode = message.isText ? .text : .binary
    if isCompressed, let deflating {
      // The compressed length isn't known in advance, so each part is a frame.
      let output = deflating.deflate(part, isLast: isLast)
      let header = FrameHeader(
        start == 0 ? opcode : .continuation, isFinal: isLast, isCompressed: start == 0, mask: masks?.next(),
        count: output.count)
      return ([Frames.whole(header, output)], isLast)
    }
    guard start > 0 else {
      mask = masks?.next()
      let header = FrameHeader(opcode, mask: mask, count: count)
      isWithinFrame = !isLast
      if isLast, count <= Self.mostCopied || mask != nil { return ([Frames.whole(header, part)], true) }
      return ([Frames.head(header), masked(part, 0)], isLast)
    }
    isWithinFrame = !isLast
    return ([masked(part, start)], isLast)
  }

  private func masked(_ part: Chunk, _ offset: Int) -> Chunk {
    guard let mask else { return part }
    return Chunk(capacity: part.count) { room in
      part.withUnsafeBytes { Masking.apply(mask, at: offset, from: $0, to: room.baseAddress!) }
      return part.count
    }
  }
}

/// Unpredictable masks (RFC 6455, 5.3), from random bytes that are read from the system in batches.
final class MaskMaker {
  private let make: ByteMaker
  private var masks: [UInt32] = []

  init(_ scheduler: any LoopScheduler) { make = scheduler.world("WebSocket").randomBytes }

  func next() -> UInt32 {
    if masks.isEmpty {
      masks = [UInt32](repeating: 0, count: 32)
      let error = masks.withUnsafeMutableBytes { make($0.bindMemory(to: UInt8.self)) }
      precondition(error == nil, "WebSocket: the system returned no random bytes")
    }
    return masks.removeLast()
  }

  /// The key of a handshake: 16 bytes in base64.
  func key() -> String {
    var bytes: [UInt8] = []
    for _ in 0..<4 { withUnsafeBytes(of: next()) { bytes += $0 } }
    return AcceptKey.base64(bytes)
  }
}
