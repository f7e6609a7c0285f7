import Foundation
import TestSupport

/// A server that speaks HTTP/2 over TLS and nothing else (`nghttpd` of nghttp2): it sends back uploaded bodies.
final class HTTP2Origin {
  private static let program = "/usr/sbin/nghttpd"
  static let isAvailable = FileManager.default.isExecutableFile(atPath: program) && SecureOrigin.isAvailable

  /// The file of the certificate, which is its own authority.
  var certificate: String { made.certificate }
  private let made: MadeCertificate
  private let port: ReservedPort
  private let server: ChildProcess

  init() throws {
    made = try MadeCertificate(host: "localhost")
    port = try ReservedPort()
    server = try ChildProcess(
      Self.program, ["-a", "127.0.0.1", "--echo-upload", "\(port.number)", made.key, made.certificate])
    // The server doesn't report when it listens.
    while server.endingNow == nil {
      guard let connection = try? RawOrigin.Connection.open(to: port.number) else {
        usleep(1_000)
        continue
      }
      close(connection.descriptor)
      break
    }
  }

  func url(_ path: String = "/") -> URL { URL(string: "https://localhost:\(port.number)\(path)")! }

  /// Ends the server; open requests get no response.
  func stop() {
    server.send(SIGKILL)
    server.wait()
  }
}
