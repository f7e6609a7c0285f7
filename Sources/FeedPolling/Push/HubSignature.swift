import COpenSSL
import FeedStream
import Foundation

/// The signature of an announcement, `X-Hub-Signature: sha256=…` (W3C WebSub, section 8).
enum HubSignature {
  /// The hash functions that the W3C Recommendation lists.
  enum Method: String, CaseIterable {
    case sha1, sha256, sha384, sha512
  }

  /// True if `field` is the signature of `body` with `secret`. The comparison takes the same time no matter where the
  /// signatures differ.
  static func isValid(_ field: String, of body: Chunk, secret: String) -> Bool {
    guard let equals = field.firstIndex(of: "="), let method = Method(rawValue: field[..<equals].lowercased()),
      let given = bytes(field[field.index(after: equals)...])
    else { return false }
    let code = code(method, of: body, secret: secret)
    // The length depends only on the method, and isn't secret.
    guard !code.isEmpty, given.count == code.count else { return false }
    return CRYPTO_memcmp(given, code, code.count) == 0
  }

  /// The authentication code of `body` (RFC 2104).
  static func code(_ method: Method, of body: Chunk, secret: String) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let key = Array(secret.utf8)
    let digest =
      switch method {
      case .sha1: EVP_sha1()
      case .sha256: EVP_sha256()
      case .sha384: EVP_sha384()
      case .sha512: EVP_sha512()
      }
    let done = body.withUnsafeBytes { bytes in
      // OpenSSL doesn't accept a null pointer for an empty body.
      var nothing: UInt8 = 0
      return withUnsafePointer(to: &nothing) { empty in
        HMAC(
          digest, key, Int32(key.count), bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? empty, bytes.count,
          &code, &count)
      }
    }
    return done == nil ? [] : Array(code.prefix(Int(count)))
  }

  private static func bytes(_ hex: Substring) -> [UInt8]? {
    let digits = Array(hex.utf8)
    // A sign isn't a digit: a code that could be spelled in two ways would let a repeated announcement count again.
    guard digits.count % 2 == 0, digits.count <= 128, hex.allSatisfy(\.isHexDigit) else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
