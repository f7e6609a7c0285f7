import Foundation
import TestSupport

/// An https server on loopback: the `openssl` command, with a certificate made for it.
final class SecureOrigin {
  static let isAvailable = FileManager.default.isExecutableFile(atPath: MadeCertificate.tool)

  let port: Int
  /// The file of the certificate, which is its own authority.
  var certificate: String { made.certificate }
  private let made: MadeCertificate
  private let server: ChildProcess

  var url: URL { URL(string: "https://localhost:\(port)/")! }

  /// - Parameters:
  ///   - host: the name in the certificate; the server is at localhost.
  ///   - hasNames: false for a certificate whose common name is the only one.
  ///   - response: the response at `/answer`, as it is sent; without one, a page of status 200 at every path. Either ends with
  ///     its connection.
  init(host: String, isExpired: Bool = false, hasNames: Bool = true, response: String? = nil) throws {
    made = try MadeCertificate(host: host, isExpired: isExpired, hasNames: hasNames)
    if let response { try response.write(toFile: made.folder.file("answer"), atomically: true, encoding: .utf8) }
    // The server ends with its input, which therefore stays open. It serves the files in its current folder.
    server = try ChildProcess(
      "/bin/sh",
      [
        "-c", #"cd "$1" && shift && exec "$@""#, "sh", made.folder.path, MadeCertificate.tool, "s_server", "-accept",
        "127.0.0.1:0",
        "-cert", made.certificate, "-key", made.key, response == nil ? "-www" : "-HTTP",
      ], input: .pipe, output: .pipe)
    // "ACCEPT 127.0.0.1:port" is the first relevant line of its output.
    let output = FileHandle(fileDescriptor: server.output, closeOnDealloc: false)
    var said = ""
    while !said.contains("ACCEPT"), case let data = output.availableData, !data.isEmpty {
      said += String(decoding: data, as: UTF8.self)
    }
    guard
      let port = said.split(whereSeparator: \.isNewline).first(where: { $0.hasPrefix("ACCEPT") })
        .flatMap({ Int($0.split(separator: ":").last!) })
    else { throw MadeCertificate.Failed(step: "start the server") }
    self.port = port
  }

  func stop() {
    server.send(SIGKILL)
    server.wait()
    close(server.input)
    close(server.output)
  }
}
