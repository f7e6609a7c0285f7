import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import FeedTLS
import Foundation
import TestSupport
import Testing

@testable import FeedWebSocket

/// Sockets over TLS, and over a real loop.
@Suite(.settled, .timeLimit(.minutes(5))) struct SecureSocketTests {
  /// Calls `body` with a certificate for 10.0.0.1 and its key, made by the `openssl` command.
  private func withPapers(_ body: (_ certificate: String, _ key: String) throws -> Void) throws {
    let folder = TemporaryFolder()
    let script = """
      cd "$0" && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -sha256 -days 3650 \\
        -subj /CN=test -addext subjectAltName=IP:10.0.0.1 -keyout key.pem -out certificate.pem 2>log
      """
    let ending = try ChildProcess.run("/bin/sh", ["-c", script, folder.path], errors: .inherited).ending
    try #require(ending == .exited(0))
    try withExtendedLifetime(folder) { try body(folder.file("certificate.pem"), folder.file("key.pem")) }
  }

  @Test func `a socket over TLS echoes, and an untrusted server receives nothing`() throws {
    try withPapers { certificate, key in
      let identity = try TLSIdentity(certificateFile: certificate, keyFile: key)
      try withVirtualTime { time in
        let tls = try TLSServer(identity: identity)
        let server = try HTTPServer(at: .internet("10.0.0.1", port: 443), on: time) { $0.secured(by: tls, on: time) }
        let serving = server.serve { request in
          request.upgradeToWebSocket { socket in socket.messages.write(to: socket) }
        }
        var options = WebSocketClient.Options()
        options.tls = try TLSClient(trusting: .only(file: certificate))
        let texts = (0..<100).map { String(repeating: "\($0) ", count: 1_000) }
        var echoes: [String?] = []
        let work = WebSocketClient(options, on: time).webSocket("wss://10.0.0.1/").eraseFailureType()
          .flatMap { socket in
            socket.messages.eraseFailureType().prefix(100)
              .merge(
                with: texts.publisher.map { WebSocketMessage.text($0) }.write(to: socket).setOutputType(
                  to: WebSocketMessage.self))
          }
          .sink { _ in
          } receiveValue: {
            echoes.append($0.text)
          }
        time.advance(by: .seconds(2))
        #expect(echoes == texts)
        work.cancel()
        var error: WebSocketError?
        options.tls = try TLSClient(trusting: .system)
        let strict = WebSocketClient(options, on: time).webSocket("wss://10.0.0.1/").sink {
          if case .failure(let failure) = $0 { error = failure }
        } receiveValue: { _ in
        }
        time.advance(by: .seconds(2))
        guard case .notSecure = error else {
          Issue.record("\(error as Any)")
          return
        }
        strict.cancel()
        serving.cancel()
        server.close()
        time.advance(by: .seconds(2))
      }
    }
  }

  @Test func `the system's roots are read once for all clients that aren't given others`() throws {
    try withVirtualTime { time in
      var options = WebSocketClient.Options()
      let first = try WebSocketClient(options, on: time).tls
      #expect(try WebSocketClient(on: time).tls === first)
      options.tls = try TLSClient(trusting: .system)
      #expect(try WebSocketClient(options, on: time).tls === options.tls)
    }
  }

  @Test(arguments: [nil, WebSocketCompression(keepsContext: true)])
  func `messages of all lengths are echoed on a real loop`(_ compression: WebSocketCompression?) throws {
    let loop = EventLoop()
    let server = try HTTPServer(at: .internet("127.0.0.1", port: 0), on: loop)
    var upgrade = WebSocketUpgrade()
    upgrade.compression = compression
    upgrade.limits.messageBytes = 8 << 20
    upgrade.limits.frameBytes = 8 << 20
    let serving = server.serve { request in
      request.upgradeToWebSocket(upgrade) { socket in socket.messages.write(to: socket) }
    }
    var options = WebSocketClient.Options()
    options.limits = upgrade.limits
    options.compression = compression
    // Lengths near the sizes that are written, masked and compressed at a time.
    let lengths = [
      0, 1, 4_096, 4_097, 65_525, 65_526, 65_527, 65_536, 65_537, 131_072, 131_073, 262_144, 1_000_000, 3 << 20,
    ]
    let messages = lengths.map { count in
      WebSocketMessage.binary(Chunk((0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }))
    }
    var echoes: [WebSocketMessage] = []
    let port = try #require(server.address?.port)
    let work = WebSocketClient(options, on: loop).webSocket("ws://127.0.0.1:\(port)/").eraseFailureType()
      .flatMap { socket in
        socket.messages.eraseFailureType().prefix(messages.count)
          .merge(with: messages.publisher.write(to: socket).setOutputType(to: WebSocketMessage.self))
      }
      .sink { _ in
        server.shutdown()
      } receiveValue: {
        echoes.append($0)
      }
    loop.run()
    #expect(echoes.map(\.bytes.count) == lengths)
    #expect(echoes == messages)
    work.cancel()
    serving.cancel()
  }
}
