/// The slot of a cluster in which a key is stored.
///
/// Only the text between the first `{` and the next `}` counts, so that keys with the same tag are stored together and
/// one script can change all of them (https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/, "Hash
/// tags").
public struct RedisSlot: Hashable, Sendable {
  /// The number of slots that a cluster has.
  public static let count = 16_384

  public let number: Int

  public init(of key: String) {
    let bytes = Array(key.utf8)
    var tag = bytes[...]
    if let open = bytes.firstIndex(of: UInt8(ascii: "{")),
      let close = bytes[(open + 1)...].firstIndex(of: UInt8(ascii: "}")), close > open + 1
    {
      tag = bytes[open + 1..<close]
    }
    number = Int(Self.crc16(tag)) % Self.count
  }

  /// The CRC-16/XMODEM checksum.
  private static func crc16(_ bytes: some Sequence<UInt8>) -> UInt16 {
    var crc: UInt16 = 0
    for byte in bytes {
      crc ^= UInt16(byte) << 8
      for _ in 0..<8 { crc = crc & 0x8000 != 0 ? crc << 1 ^ 0x1021 : crc << 1 }
    }
    return crc
  }
}
