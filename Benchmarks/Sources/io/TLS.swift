import CIO
import FeedStream
import FeedTLS
import Foundation
import Harness

/// The number of bytes that are sent and read.
let tlsBytes = 256 << 20

/// A certificate and a key, made by the `openssl` command for this run.
struct Papers {
  let certificate: String
  let key: String

  /// - Parameter folder: the folder in which they are, or will be made.
  init(in folder: String) {
    certificate = folder + "/certificate.pem"
    key = folder + "/key.pem"
  }

  func make() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = [
      "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
      "-days", "2", "-keyout", key, "-out", certificate,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
  }
}

func tlsServer(_ papers: Papers) throws {
  let loop = EventLoop()
  let listener = try Listener(at: .internet("127.0.0.1", port: 0), on: loop)
  print(listener.address.port!)
  fflush(nil)
  let server = try TLSServer(identity: .init(certificateFile: papers.certificate, keyFile: papers.key))
  let block = Chunk(repeatElement(0, count: 65_536))
  let serving = listener.connections.secured(by: server, on: loop)
    .flatMap { connection in
      var (command, total) = (UInt8(0), 0)
      return connection.bytes
        .handleEvents(receiveOutput: {
          if total == 0 { command = $0[0] }
          total += $0.count
        })
        .first { _ in command == UInt8(ascii: "S") || total > tlsBytes }
        .mapError { $0 as any Error }
        .flatMap { _ in
          let answer = command == UInt8(ascii: "S") ? Array(repeating: block, count: tlsBytes / block.count) : ["k"]
          return answer.publisher.write(to: connection, atEnd: .closes).mapError { $0 as any Error }
        }
        .catch { error in
          FileHandle.standardError.write(Data("\(error)\n".utf8))
          return Empty<Never, Never>()
        }
    }
    .sink { _ in }
  loop.run()
  serving.cancel()
}

func tlsRows(rounds: Int) throws {
  let folder = FileManager.default.temporaryDirectory.appending(path: "feedstream-tls-\(getpid())").path
  try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  try Papers(in: folder).make()
  let (ours, theirs) = (try Server("tls-swift", folder), try Server("tls-c", folder))
  for (command, name) in [("S", "sent"), ("R", "read")] {
    let letter = CChar(command.utf8.first!)
    try row(
      "TLS, 256 MiB \(name)", 0, rounds: rounds,
      { c_tls_client(ours.port, letter, tlsBytes) }, { c_tls_client(theirs.port, letter, tlsBytes) })
    try row(
      "TLS, 256 MiB \(name), processor of the server", 0, rounds: rounds,
      { ours.processor { c_tls_client(ours.port, letter, tlsBytes) } },
      { theirs.processor { c_tls_client(theirs.port, letter, tlsBytes) } })
  }
  for server in [ours, theirs] { server.end() }
}
