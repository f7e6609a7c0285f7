import Foundation
import TestSupport

/// A certificate that is its own authority, made by the `openssl` command, in a folder that is removed with this
/// object.
final class MadeCertificate {
  static let tool = "/usr/bin/openssl"

  struct Failed: Error {
    let step: String
  }

  let folder = TemporaryFolder()
  /// The files of the certificate and of its key.
  let certificate, key: String

  /// - Parameters:
  ///   - host: the name in the certificate.
  ///   - hasNames: false for a certificate whose common name is the only one.
  init(host: String, isExpired: Bool = false, hasNames: Bool = true) throws {
    certificate = folder.file("certificate.pem")
    key = folder.file("key.pem")
    let request = folder.file("request.pem")
    try Self.run([
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request,
      "-subj", "/CN=\(host)",
    ])
    // Only the command for authorities accepts dates, and it requires a database file.
    let settings = folder.file("settings")
    try Data().write(to: URL(filePath: folder.file("index")))
    try """
    [ca]
    default_ca = here
    [here]
    database = \(folder.path)/index
    new_certs_dir = \(folder.path)
    rand_serial = yes
    default_md = sha256
    policy = any
    \(hasNames ? "x509_extensions = names" : "")
    [any]
    commonName = supplied
    [names]
    subjectAltName = DNS:\(host)
    """.write(toFile: settings, atomically: true, encoding: .utf8)
    try Self.run([
      "ca", "-batch", "-selfsign", "-config", settings, "-keyfile", key, "-in", request, "-out", certificate, "-notext",
      "-startdate", "20200101000000Z", "-enddate", isExpired ? "20210101000000Z" : "20491231000000Z",
    ])
  }

  private static func run(_ arguments: [String]) throws {
    guard try ChildProcess.run(tool, arguments).ending == .exited(0) else { throw Failed(step: arguments[0]) }
  }
}
