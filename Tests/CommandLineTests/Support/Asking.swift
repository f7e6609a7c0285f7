import FeedStream
import Foundation
import Testing

/// Sends bytes to a server on this machine.
///
/// - Parameter end: what to wait for; without it, the end of the connection.
/// - Returns: what the server said until then.
func ask(_ port: Int, _ request: String, upTo end: String? = nil) async throws -> String {
  let loop = EventLoop()
  defer { loop.close() }
  var text = ""
  let said = Connection.connect(to: .internet("127.0.0.1", port: port), on: loop)
    .flatMap { connection in
      let sent = Just(Chunk(request)).write(to: connection).catch { _ in Empty<Never, Never>() }
        .map { (_: Never) -> Chunk in }.setFailureType(to: SystemError.self)
      return connection.bytes.merge(with: sent)
    }
    .timeout(.seconds(30), scheduler: loop)
    .sink { _ in
      loop.stop()
    } receiveValue: { chunk in
      text += chunk.text
      if let end, text.contains(end) { loop.stop() }
    }
  loop.run()
  said.cancel()
  return text
}

/// Asks for a path, as curl does.
func get(_ port: Int, _ path: String, _ fields: String = "") async throws -> String {
  try await ask(port, "GET \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n\(fields)\r\n")
}

/// The port in the address that a server prints.
func port(of address: String) throws -> Int {
  try #require(URL(string: address.trimmingCharacters(in: .whitespacesAndNewlines))?.port)
}
