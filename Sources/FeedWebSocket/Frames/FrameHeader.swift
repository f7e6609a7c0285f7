internal import FeedStream

/// The kind of a frame (RFC 6455, 5.2 and 11.8).
package enum Opcode: UInt8, Sendable {
  case continuation = 0
  case text = 1
  case binary = 2
  case close = 8
  case ping = 9
  case pong = 10

  var isControl: Bool { rawValue >= 8 }
}

/// The bytes of a frame before its payload (RFC 6455, 5.2).
package struct FrameHeader: Equatable, Sendable {
  package var opcode: Opcode
  package var isFinal: Bool
  /// RSV1: the message is compressed (RFC 7692, 6).
  package var isCompressed: Bool
  /// The mask, in memory order; `nil` for an unmasked frame.
  package var mask: UInt32?
  package var count: Int

  package init(_ opcode: Opcode, isFinal: Bool = true, isCompressed: Bool = false, mask: UInt32? = nil, count: Int) {
    self.opcode = opcode
    self.isFinal = isFinal
    self.isCompressed = isCompressed
    self.mask = mask
    self.count = count
  }

  /// The maximum number of bytes in a header.
  package static let longest = 14

  /// Reads the header at the beginning of `bytes`.
  ///
  /// - Parameters:
  ///   - isMasked: true if the peer must mask, as a client must; false if it must not.
  ///   - mayCompress: true when compression was negotiated.
  /// - Returns: the header and its length; `nil` when more bytes are needed.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, isMasked: Bool, mayCompress: Bool
  ) throws(ProtocolFailure) -> (header: FrameHeader, length: Int)? {
    guard let first = bytes.first else { return nil }
    guard let opcode = Opcode(rawValue: first & 0x0F) else { throw .reservedOpcode(first & 0x0F) }
    let (isFinal, isCompressed) = (first & 0x80 != 0, first & 0x40 != 0)
    guard first & 0x30 == 0, !isCompressed || mayCompress && (opcode == .text || opcode == .binary) else {
      throw .reservedBits
    }
    guard isFinal || !opcode.isControl else { throw .fragmentedControl }
    guard bytes.count > 1 else { return nil }
    guard (bytes[1] & 0x80 != 0) == isMasked else { throw isMasked ? .unmasked : .masked }
    let short = Int(bytes[1] & 0x7F)
    guard !opcode.isControl || short <= 125 else { throw .longControl }
    let lengthBytes = short == 126 ? 2 : short == 127 ? 8 : 0
    let length = 2 + lengthBytes + (isMasked ? 4 : 0)
    guard bytes.count >= length else { return nil }
    var count = short
    if lengthBytes == 2 {
      count = Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
      guard count > 125 else { throw .longLength }
    } else if lengthBytes == 8 {
      let long = UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt64.self))
      guard long > 0xFFFF, long <= UInt64(Int.max) else { throw .longLength }
      count = Int(long)
    }
    let mask = isMasked ? bytes.loadUnaligned(fromByteOffset: length - 4, as: UInt32.self) : nil
    let header = FrameHeader(opcode, isFinal: isFinal, isCompressed: isCompressed, mask: mask, count: count)
    return (header, length)
  }

  /// Writes the header, with the length in as few bytes as possible.
  ///
  /// - Parameter room: at least ``longest`` bytes.
  /// - Returns: the number of bytes written.
  func write(to room: UnsafeMutableRawBufferPointer) -> Int {
    room[0] = opcode.rawValue | (isFinal ? 0x80 : 0) | (isCompressed ? 0x40 : 0)
    let bit: UInt8 = mask == nil ? 0 : 0x80
    var end = 2
    switch count {
    case ...125: room[1] = UInt8(count) | bit
    case ...0xFFFF:
      room[1] = 126 | bit
      room.storeBytes(of: UInt16(count).bigEndian, toByteOffset: 2, as: UInt16.self)
      end = 4
    default:
      room[1] = 127 | bit
      room.storeBytes(of: UInt64(count).bigEndian, toByteOffset: 2, as: UInt64.self)
      end = 10
    }
    if let mask {
      room.storeBytes(of: mask, toByteOffset: end, as: UInt32.self)
      end += 4
    }
    return end
  }
}
