import PlainText

/// A violation of the protocol or of a limit by the peer.
package enum ProtocolFailure: Error, Hashable, Sendable {
  case reservedBits
  case reservedOpcode(UInt8)
  case fragmentedControl
  case longControl
  /// A client sent a frame without a mask.
  case unmasked
  /// A server sent a frame with a mask.
  case masked
  /// A length that takes more bytes than it needs, or has its highest bit set.
  case longLength
  /// A continuation frame without a message to continue.
  case strayContinuation
  /// A message that begins within another one.
  case interleaved
  case invalidText
  /// The payload of a close frame is one byte.
  case shortClose
  case closeCode(Int)
  case invalidReason
  case frameTooLarge(limit: Int)
  case messageTooLarge(limit: Int)
  /// Data that cannot be decompressed.
  case badCompression

  /// The code of the close frame in response (RFC 6455, 7.4.1).
  package var code: WebSocketCloseCode {
    switch self {
    case .invalidText, .invalidReason, .badCompression: .invalidData
    case .frameTooLarge, .messageTooLarge: .messageTooBig
    default: .protocolError
    }
  }
}

extension ProtocolFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .reservedBits: "reserved bits are set without a negotiated extension"
    case .reservedOpcode(let opcode): "a frame has the reserved opcode \(opcode)"
    case .fragmentedControl: "a control frame is fragmented"
    case .longControl: "a control frame is longer than 125 bytes"
    case .unmasked: "a frame from the client is not masked"
    case .masked: "a frame from the server is masked"
    case .longLength: "the length of a frame is not encoded in the shortest form, or has its highest bit set"
    case .strayContinuation: "a continuation frame has no message to continue"
    case .interleaved: "a message begins before the previous one is complete"
    case .invalidText: "a text message is not valid UTF-8"
    case .shortClose: "a close frame has an incomplete code"
    case .closeCode(let code): "a close frame has the code \(code), which must not be sent"
    case .invalidReason: "the reason in a close frame is not valid UTF-8"
    case .frameTooLarge(let limit): "a frame is larger than the limit of \(limit.byteSize)"
    case .messageTooLarge(let limit): "a message is larger than the limit of \(limit.byteSize)"
    case .badCompression: "a compressed message cannot be decompressed"
    }
  }
}
