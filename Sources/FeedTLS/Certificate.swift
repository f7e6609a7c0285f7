internal import COpenSSL

/// An OpenSSL certificate.
// @unchecked: OpenSSL counts its references atomically, and nothing changes it.
final class Certificate: @unchecked Sendable {
  let x509: OpaquePointer

  /// - Parameter x509: the certificate; the new object takes ownership of it.
  init(_ x509: OpaquePointer) { self.x509 = x509 }
  deinit { X509_free(x509) }

  /// The subject's distinguished name (RFC 2253).
  var subject: String { text { copenssl_subject(x509, 0, $0, $1) } }
  /// The issuer's distinguished name (RFC 2253).
  var issuer: String { text { copenssl_subject(x509, 1, $0, $1) } }
  var names: [String] { text { copenssl_names(x509, $0, $1) }.split(separator: "\n").map(String.init) }

  var sha256: [UInt8] {
    var digest = [UInt8](repeating: 0, count: 64)
    var count: UInt32 = 0
    guard X509_digest(x509, EVP_sha256(), &digest, &count) == 1 else { return [] }
    return Array(digest.prefix(Int(count)))
  }

  private func text(_ write: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { room in
      let count = write(room.baseAddress!, room.count)
      return String(decoding: UnsafeRawBufferPointer(start: room.baseAddress, count: count), as: UTF8.self)
    }
  }

  static func all(in pem: PEM, _ name: String) throws(TLSError) -> [Certificate] {
    var found: [Certificate] = []
    while let next = copenssl_read_certificate(pem.bio) { found.append(Certificate(next)) }
    let isWhole = copenssl_was_end_of_pem() != 0
    let reason = OpenSSLErrors.takeText()
    guard isWhole, !found.isEmpty else {
      throw .unreadable(name, reason: isWhole ? "it contains no certificate" : reason)
    }
    return found
  }
}

/// PEM text that is being read.
package final class PEM {
  let bio: OpaquePointer
  private let name: String

  package init(_ text: String) {
    name = "the private key"
    bio = BIO_new(BIO_s_mem())
    _ = Array(text.utf8).withUnsafeBytes { BIO_write(bio, $0.baseAddress, Int32(clamping: $0.count)) }
  }

  package init(file: String) throws(TLSError) {
    ERR_clear_error()
    guard !file.utf8.contains(0), let bio = BIO_new_file(file, "r") else {
      throw .unreadable(file, reason: OpenSSLErrors.takeText())
    }
    name = file
    self.bio = bio
  }

  deinit { BIO_free(bio) }

  package func key() throws(TLSError) -> OpaquePointer {
    ERR_clear_error()
    guard let key = copenssl_read_key(bio) else {
      let reason = OpenSSLErrors.takeText()
      let isKnown = !["", "unsupported"].contains(reason)
      throw .unreadable(name, reason: isKnown ? reason : "it contains no unencrypted private key")
    }
    return key
  }
}

enum OpenSSLErrors {
  /// OpenSSL's text for the thread's first error; clears all of the thread's errors.
  static func takeText() -> String {
    let error = ERR_get_error()
    ERR_clear_error()
    guard error != 0 else { return "" }
    return text(of: error)
  }

  static func text(of error: UInt) -> String {
    if let text = copenssl_system_text(error) { return String(cString: text) }
    if let reason = ERR_reason_error_string(error) { return String(cString: reason) }
    return "error \(copenssl_reason(error))"
  }
}
