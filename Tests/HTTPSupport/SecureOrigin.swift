import Foundation
import TestSupport

/// An https server on loopback with a certificate of its own making: the `openssl` command's.
final class SecureOrigin {
  static let isAvailable = FileManager.default.isExecutableFile(atPath: tool)
  private static let tool = "/usr/bin/openssl"

  struct Failed: Error {
    let step: String
  }

  let port: Int
  /// The file of the certificate, which is its own authority.
  let certificate: String
  private let folder: URL
  private let server: ChildProcess

  var url: URL { URL(string: "https://localhost:\(port)/")! }

  /// - Parameters:
  ///   - host: the name in the certificate; the server is at localhost.
  ///   - hasNames: false for a certificate whose common name is the only one.
  ///   - response: the response at `/answer`, as it is sent; without one, a page of status 200 at every path. Either ends with
  ///     its connection.
  init(host: String, isExpired: Bool = false, hasNames: Bool = true, response: String? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "origin-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let certificate = folder.appending(path: "certificate.pem").path
    let key = folder.appending(path: "key.pem").path
    self.certificate = certificate
    let request = folder.appending(path: "request.pem").path
    try Self.run([
      "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", request,
      "-subj", "/CN=\(host)",
    ])
    // Only the authority's command takes dates, and it wants its books.
    let settings = folder.appending(path: "settings").path
    try Data().write(to: folder.appending(path: "index"))
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
    if let response { try response.write(to: folder.appending(path: "answer"), atomically: true, encoding: .utf8) }
    // It ends when its input does, which therefore stays open. It answers with files of its current folder.
    server = try ChildProcess(
      "/bin/sh",
      [
        "-c", #"cd "$1" && shift && exec "$@""#, "sh", folder.path, Self.tool, "s_server", "-accept", "127.0.0.1:0",
        "-cert", certificate, "-key", key, response == nil ? "-www" : "-HTTP",
      ], input: .pipe, output: .pipe)
    // "ACCEPT 127.0.0.1:port" is the first thing it says that matters.
    let output = FileHandle(fileDescriptor: server.output, closeOnDealloc: false)
    var said = ""
    while !said.contains("ACCEPT"), case let data = output.availableData, !data.isEmpty {
      said += String(decoding: data, as: UTF8.self)
    }
    guard
      let port = said.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("ACCEPT") })
        .flatMap({ Int($0.split(separator: ":").last!) })
    else { throw Failed(step: "start the server") }
    self.port = port
  }

  func stop() {
    server.send(SIGKILL)
    server.wait()
    close(server.input)
    close(server.output)
    try? FileManager.default.removeItem(at: folder)
  }

  private static func run(_ arguments: [String]) throws {
    guard try ChildProcess.run(tool, arguments).ending == .exited(0) else { throw Failed(step: arguments[0]) }
  }
}
