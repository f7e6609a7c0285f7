import Foundation

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
  private let server: Process

  var url: URL { URL(string: "https://localhost:\(port)/")! }

  /// - Parameter host: whom the certificate names; the server is at localhost.
  init(host: String, isExpired: Bool = false) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "origin-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let certificate = folder.appending(path: "certificate.pem").path
    let key = folder.appending(path: "key.pem").path
    self.certificate = certificate
    let make = try Self.start([
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
      certificate, "-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)", "-days", isExpired ? "-1" : "2",
    ])
    make.process.waitUntilExit()
    guard make.process.terminationStatus == 0 else { throw Failed(step: "make a certificate") }
    let (server, output) = try Self.start([
      "s_server", "-accept", "127.0.0.1:0", "-cert", certificate, "-key", key, "-www",
    ])
    self.server = server
    // "ACCEPT 127.0.0.1:port" is the first thing it says that matters.
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
    server.terminate()
    server.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func start(_ arguments: [String]) throws -> (process: Process, output: FileHandle) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: tool)
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    // The server ends when its input does: it must not.
    process.standardInput = Pipe()
    try process.run()
    return (process, pipe.fileHandleForReading)
  }
}
