/// SHA-1 (RFC 3174): for names, which don't depend on the hash's security, and, with a key, for authentication codes.
package enum SHA1 {
  /// The authentication code of a message, which can't be computed without the key: HMAC (RFC 2104).
  package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    let block = (key.count > 64 ? digest(of: key) : key)
    let padded = block + [UInt8](repeating: 0, count: 64 - block.count)
    return digest(of: padded.map { $0 ^ 0x5C } + digest(of: padded.map { $0 ^ 0x36 } + message))
  }

  package static func digest(of message: [UInt8]) -> [UInt8] {
    var state: (UInt32, UInt32, UInt32, UInt32, UInt32) = (
      0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0
    )
    var words = [UInt32](repeating: 0, count: 80)
    let padded = padded(message)
    for block in stride(from: 0, to: padded.count, by: 64) {
      for index in 0..<16 {
        words[index] = (0..<4).reduce(0) { $0 << 8 | UInt32(padded[block + index * 4 + $1]) }
      }
      for index in 16..<80 {
        words[index] = rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1)
      }
      var (a, b, c, d, e) = state
      for index in 0..<80 {
        let (mixed, constant): (UInt32, UInt32) =
          switch index {
          case ..<20: (b & c | ~b & d, 0x5A82_7999)
          case ..<40: (b ^ c ^ d, 0x6ED9_EBA1)
          case ..<60: (b & c | b & d | c & d, 0x8F1B_BCDC)
          default: (b ^ c ^ d, 0xCA62_C1D6)
          }
        (a, b, c, d, e) = (rotate(a, by: 5) &+ mixed &+ e &+ constant &+ words[index], a, rotate(b, by: 30), c, d)
      }
      state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
    }
    return [state.0, state.1, state.2, state.3, state.4].flatMap(bytes)
  }

  /// The message, a set bit, zeros, and its length in bits: a multiple of 64 bytes.
  private static func padded(_ message: [UInt8]) -> [UInt8] {
    let bits = UInt64(message.count) * 8
    var padded = message + [0x80]
    padded += [UInt8](repeating: 0, count: (119 - message.count % 64) % 64)
    return padded + bytes(UInt32(truncatingIfNeeded: bits >> 32)) + bytes(UInt32(truncatingIfNeeded: bits))
  }

  private static func bytes(_ word: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
  }

  private static func rotate(_ word: UInt32, by count: UInt32) -> UInt32 { word << count | word >> (32 - count) }
}
