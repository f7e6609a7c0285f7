internal import COpenSSL
import Foundation

/// An Ed25519 key.
// @unchecked: OpenSSL lets several threads use one key, each with a context of its own.
final class SigningKey: @unchecked Sendable {
  private let key: OpaquePointer
  /// The public key as a JSON Web Key.
  let jwk: String
  /// The public key's thumbprint (RFC 7638).
  let id: String

  /// Takes ownership of `key`; `nil` if it isn't an Ed25519 key.
  init?(_ key: OpaquePointer) {
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    guard EVP_PKEY_get_id(key) == EVP_PKEY_ED25519, EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count == 32
    else {
      EVP_PKEY_free(key)
      return nil
    }
    self.key = key
    let x = Self.base64URL(bytes)
    id = Self.base64URL(Self.sha256("{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"\(x)\"}"))
    jwk = "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"kid\":\"\(id)\",\"x\":\"\(x)\",\"use\":\"sig\"}"
  }

  deinit { EVP_PKEY_free(key) }

  func sign(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var signature = [UInt8](repeating: 0, count: 64)
    var count = signature.count
    let context = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(context) }
    let isDone =
      EVP_DigestSignInit(context, nil, nil, nil, key) == 1
      && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
    precondition(isDone && count == 64, "SigningKey: OpenSSL could not sign: out of memory")
    return signature
  }

  static func sha256(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
    return digest
  }

  private static func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }
}
