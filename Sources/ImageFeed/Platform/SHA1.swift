import COpenSSL

/// SHA-1 (RFC 3174): for names, which don't depend on the hash's security, and, with a key, for authentication codes.
package enum SHA1 {
  private static let length = 20

  package static func digest(of message: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { digest, count in
      copenssl_sha1(message, message.count, digest.baseAddress)
      count = length
    }
  }

  /// The authentication code of a message, which can't be computed without the key: HMAC (RFC 2104).
  package static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: length) { code, count in
      HMAC(EVP_sha1(), key, Int32(key.count), message, message.count, code.baseAddress, nil)
      count = length
    }
  }
}
