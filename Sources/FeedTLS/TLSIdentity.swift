internal import COpenSSL

/// A certificate with its chain, and its private key: the identity of a server, or of a client that must present one.
// @unchecked: OpenSSL counts their references atomically, and nothing changes them.
public final class TLSIdentity: @unchecked Sendable {
  /// This side's certificate, followed by its chain.
  let certificates: [Certificate]
  let key: OpaquePointer

  /// - Parameters:
  ///   - certificates: PEM text: the certificate, followed by those that vouch for it, without the root.
  ///   - key: PEM text, without a password.
  /// - Throws: ``TLSError/unreadable(_:reason:)`` or ``TLSError/keyIsAnother(certificate:)``.
  public init(certificates: String, key: String) throws(TLSError) {
    self.certificates = try Certificate.all(in: PEM(certificates), "the certificate")
    self.key = try PEM(key).key()
    try check()
  }

  /// Reads the certificate and the key from files; blocks while it reads them.
  ///
  /// - Parameters:
  ///   - certificateFile: the path of a PEM file: the certificate, followed by those that vouch for it, without the
  ///     root.
  ///   - keyFile: the path of a PEM file, without a password.
  /// - Throws: ``TLSError/unreadable(_:reason:)`` or ``TLSError/keyIsAnother(certificate:)``.
  public init(certificateFile: String, keyFile: String) throws(TLSError) {
    certificates = try Certificate.all(in: PEM(file: certificateFile), certificateFile)
    key = try PEM(file: keyFile).key()
    try check()
  }

  private func check() throws(TLSError) {
    guard X509_check_private_key(certificates[0].x509, key) == 1 else {
      ERR_clear_error()
      throw .keyIsAnother(certificate: certificates[0].subject)
    }
  }

  deinit { EVP_PKEY_free(key) }
}

/// The certificates that may vouch for the peer.
public struct TrustedRoots: Sendable {
  let includesSystem: Bool
  let certificates: [Certificate]

  /// The certificates that the system trusts.
  public static let system = TrustedRoots(includesSystem: true, certificates: [])

  /// Only these certificates.
  ///
  /// - Parameter pem: the certificates as PEM text; even one that isn't a root is trusted.
  public static func only(_ pem: String) throws(TLSError) -> TrustedRoots {
    TrustedRoots(includesSystem: false, certificates: try Certificate.all(in: PEM(pem), "the trusted roots"))
  }

  /// Only the certificates in a file. Blocks while it reads the file.
  public static func only(file: String) throws(TLSError) -> TrustedRoots {
    TrustedRoots(includesSystem: false, certificates: try Certificate.all(in: PEM(file: file), file))
  }

  /// These certificates and those in `other`.
  public func adding(_ other: TrustedRoots) -> TrustedRoots {
    TrustedRoots(
      includesSystem: includesSystem || other.includesSystem, certificates: certificates + other.certificates)
  }
}
