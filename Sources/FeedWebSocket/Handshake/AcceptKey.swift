internal import COpenSSL

/// The keys of a handshake (RFC 6455, 1.3).
enum AcceptKey {
  /// The value of `Sec-WebSocket-Accept` for a key.
  static func answer(to key: String) -> String {
    let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
    var digest = [UInt8](repeating: 0, count: 20)
    copenssl_sha1(text, text.count, &digest)
    return base64(digest)
  }

  /// True if the key is 16 bytes in base64.
  static func isKey(_ key: String) -> Bool {
    let bytes = Array(key.utf8)
    guard bytes.count == 24, bytes.suffix(2).elementsEqual("==".utf8) else { return false }
    return bytes.dropLast(2).allSatisfy { alphabet.contains($0) }
  }

  static func base64(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var bits = group.reduce(0) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
      var four: [UInt8] = []
      for _ in 0..<4 {
        four.insert(alphabet[Int(bits & 63)], at: 0)
        bits >>= 6
      }
      text += four.prefix(group.count + 1) + Array(repeating: UInt8(ascii: "="), count: 3 - group.count)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
