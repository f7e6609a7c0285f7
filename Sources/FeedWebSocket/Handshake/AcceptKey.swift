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
    // OpenSSL writes a zero byte at the end.
    String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4 + 1) {
      Int(EVP_EncodeBlock($0.baseAddress, bytes, Int32(bytes.count)))
    }
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
}
