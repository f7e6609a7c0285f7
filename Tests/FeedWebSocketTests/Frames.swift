import FeedStream

@testable import FeedWebSocket

/// Frames as a misbehaving peer sends them.
enum Raw {
  static let mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

  /// - Parameters:
  ///   - first: the bits and the opcode.
  ///   - isMasked: true for a client's frame.
  static func frame(_ first: UInt8, _ payload: [UInt8] = [], isMasked: Bool) -> [UInt8] {
    var bytes = [first]
    let bit: UInt8 = isMasked ? 0x80 : 0
    switch payload.count {
    case ...125: bytes.append(UInt8(payload.count) | bit)
    case ...0xFFFF: bytes += [126 | bit, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: bytes += [127 | bit] + (0..<8).reversed().map { UInt8(payload.count >> ($0 * 8) & 0xFF) }
    }
    guard isMasked else { return bytes + payload }
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 & 3] }
  }

  static func close(_ code: Int?, _ reason: [UInt8] = [], isMasked: Bool) -> [UInt8] {
    frame(0x88, (code.map { [UInt8($0 >> 8 & 0xFF), UInt8($0 & 0xFF)] } ?? []) + reason, isMasked: isMasked)
  }

  /// The frames that a side has sent, in words: `text Hello`, `pong`, `close 1000`, `binary 65536 bytes`.
  static func words(_ bytes: [UInt8], isMasked: Bool, _ compression: DeflateTerms? = nil) -> [String] {
    var limits = WebSocketLimits()
    (limits.messageBytes, limits.frameBytes) = (64 << 20, 64 << 20)
    var reader = MessageReader(isServer: isMasked, limits: limits, compression: compression)
    reader.feed(Chunk(bytes))
    var words: [String] = []
    do throws(ProtocolFailure) {
      while let event = try reader.next() { words.append(self.words(event)) }
      if reader.hasInput { words.append("and a part of a frame") }
    } catch {
      words.append("refused: \(error)")
    }
    return words
  }

  static func words(_ event: MessageReader.Event) -> String {
    func content(_ bytes: Chunk) -> String {
      if bytes.isEmpty { return "" }
      if bytes.count <= 130, let text = String(validating: bytes, as: UTF8.self) { return " " + text }
      return " \(bytes.count) bytes"
    }
    return switch event {
    case .message(let message): (message.isText ? "text" : "binary") + content(message.bytes)
    case .ping(let payload): "ping" + content(payload)
    case .pong(let payload): "pong" + content(payload)
    case .close(let close): "close" + (close.code.map { " \($0.number)" } ?? "")
    case .held: "held"
    }
  }
}
