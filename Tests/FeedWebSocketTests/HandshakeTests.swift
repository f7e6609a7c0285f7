import FeedHTTPServer
import FeedStream
import FeedStreamTesting
import TestSupport
import Testing

@testable import FeedWebSocket

@Suite(.settled) struct HandshakeTests {
  private static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  private static let fields: [(String, String)] = [
    ("Host", "example.org"), ("Upgrade", "websocket"), ("Connection", "keep-alive, Upgrade"),
    ("Sec-WebSocket-Key", key), ("Sec-WebSocket-Version", "13"),
  ]

  /// The status and the fields of the response to a request with changed fields.
  private func answer(
    _ changes: [(String, String?)] = [], _ change: (inout WebSocketUpgrade) -> Void = { _ in }
  ) -> (status: Int, headers: HTTPHeaders) {
    var fields = Self.fields
    for (name, value) in changes {
      fields.removeAll { $0.0 == name }
      if let value { fields.append((name, value)) }
    }
    var options = WebSocketUpgrade()
    change(&options)
    let request = HandshakeRequest(
      isGet: true, isCurrentVersion: true, host: fields.first { $0.0 == "Host" }?.1,
      headers: HTTPHeaders(fields.map { (name: $0.0, value: $0.1) }))
    switch options.check(request) {
    case .success((_, let headers)): return (101, headers)
    case .failure(let refusal): return (refusal.status.code, refusal.headers)
    }
  }

  @Test func `the example handshake in section 1.3 of RFC 6455 is answered`() {
    #expect(answer().status == 101)
    #expect(answer().headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
  }

  @Test func `an invalid handshake request is refused`() {
    #expect(answer([("Upgrade", nil)]).status == 426)
    #expect(answer([("Upgrade", "h2c")]).status == 426)
    #expect(answer([("Upgrade", "h2c, WebSocket")]).status == 101)
    #expect(answer([("Connection", "close")]).status == 426)
    #expect(answer([("Sec-WebSocket-Version", "8")]).headers["Sec-WebSocket-Version"] == "13")
    #expect(answer([("Sec-WebSocket-Version", nil)]).status == 426)
    for key in ["", "short", "dGhlIHNhbXBsZSBub25jZQ=", "dGhlIHNhbXBsZSBub25j!Q==", Self.key + "AAAA"] {
      #expect(answer([("Sec-WebSocket-Key", key)]).status == 400)
    }
    #expect(answer([("Sec-WebSocket-Extensions", "a b")]).status == 400)
    #expect(answer([("Sec-WebSocket-Extensions", "unknown; x=1")]).headers["Sec-WebSocket-Extensions"] == nil)
    #expect(answer([("Sec-WebSocket-Protocol", "a b")]).status == 400)
  }

  @Test func `pages of the same host may connect, and other origins only if they are listed`() {
    #expect(answer([("Origin", "https://example.org")]).status == 101)
    #expect(answer([("Origin", "http://Example.ORG")]).status == 101)
    for origin in ["https://evil.example", "null", "https://example.org.evil", "https://example.org:8443"] {
      #expect(answer([("Origin", origin)]).status == 403)
      #expect(answer([("Origin", origin)]) { $0.origins = .any }.status == 101)
    }
    #expect(answer([("Origin", "https://app.example")]) { $0.origins = .these(["https://app.example"]) }.status == 101)
    #expect(answer([("Origin", "https://example.org")]) { $0.origins = .these([]) }.status == 403)
    #expect(answer { $0.origins = .these([]) }.status == 101)
  }

  @Test func `requests for unlisted hosts are refused with 421`() {
    #expect(answer { $0.hosts = ["example.org"] }.status == 101)
    #expect(answer([("Host", "EXAMPLE.org")]) { $0.hosts = ["example.org"] }.status == 101)
    #expect(answer([("Host", "example.org:8080")]) { $0.hosts = ["Example.org:8080"] }.status == 101)
    #expect(answer([("Host", "other")]) { $0.hosts = ["example.org"] }.status == 421)
  }

  @Test(arguments: [("Upgrade", "h2c", 426), ("Origin", "https://evil.example", 403)], [true, false])
  func `a refused handshake gets a problem document only if the routes use problem details`(
    _ wrong: (name: String, value: String, status: Int), usesProblems: Bool
  ) throws {
    try withVirtualTime { time in
      let place = SocketAddress.internet("10.0.0.1", port: 80)
      let server = try HTTPServer(at: place, on: time)
      var routes = HTTPRoutes()
      routes.usesProblems = usesProblems
      routes.group("/api", [.log { _ in }]) { api in
        api.get("/chat") { request in request.upgradeToWebSocket { socket in socket.messages.write(to: socket) } }
      }
      let serving = server.serve(routes)
      let fields = Self.fields.filter { $0.0 != wrong.name } + [(wrong.name, wrong.value)]
      let request = "GET /api/chat HTTP/1.1\r\n" + fields.map { "\($0.0): \($0.1)\r\n" }.joined() + "\r\n"
      var heard: [UInt8] = []
      var connection: Connection?
      let connecting = Connection.connect(to: place, on: time).sink { _ in
      } receiveValue: { opened in
        connection = opened
        opened.channel.startReading { result in if case .chunk(let chunk) = result { heard += Array(chunk) } }
        opened.channel.write([Chunk(request)]) { _ in }
      }
      time.advance(by: .seconds(1))
      let response = String(decoding: heard, as: UTF8.self)
      #expect(response.hasPrefix("HTTP/1.1 \(wrong.status) "), "\(response)")
      let type = usesProblems ? "application/problem+json" : "text/plain; charset=utf-8"
      #expect(response.contains("Content-Type: \(type)\r\n"), "\(response)")
      #expect(response.contains("\"status\":\(wrong.status)") == usesProblems, "\(response)")
      connecting.cancel()
      connection?.close()
      time.advance(by: .seconds(1))
      serving.cancel()
      server.close()
      time.advance(by: .seconds(1))
    }
  }

  @Test func `of the offered subprotocols, the server's most preferred is chosen`() {
    func chosen(_ offered: String, _ spoken: [String]) -> String? {
      answer([("Sec-WebSocket-Protocol", offered)]) { $0.subprotocols = spoken }.headers["Sec-WebSocket-Protocol"]
    }
    #expect(chosen("chat, superchat", ["superchat", "chat"]) == "superchat")
    #expect(chosen("other", ["chat"]) == nil)
    #expect(answer([("Sec-WebSocket-Protocol", "other")]) { $0.subprotocols = ["chat"] }.status == 101)
  }

  private func check(_ response: String, _ change: (inout WebSocketClient.Options) -> Void = { _ in }) -> String {
    var options = WebSocketClient.Options()
    change(&options)
    do {
      let request = try ClientHandshake.Request(WebSocketURL("ws://h/"), options)
      guard let (head, _) = try ResponseHead.parse(Array(response.utf8)) else { return "more" }
      let agreement = try request.check(head, Self.key)
      return "open \(agreement.subprotocol ?? "-") \(agreement.deflate == nil ? "-" : "deflate")"
    } catch let error as WebSocketError {
      if case .refused(let status, _) = error { return "\(status)" }
      return "refused"
    } catch {
      return "no HTTP"
    }
  }

  private static let good =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: upgrade\r\n"
    + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"

  @Test func `a client opens a socket when the server accepts the handshake`() {
    let good = Self.good
    #expect(check(good + "\r\n") == "open - -")
    #expect(check(good) == "more")
    #expect(check(good + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n") == "open - deflate")
    #expect(check(good + "Sec-WebSocket-Protocol: chat\r\n\r\n") { $0.subprotocols = ["chat"] } == "open chat -")
  }

  @Test func `a client refuses an invalid handshake response`() {
    let good = Self.good
    #expect(check("HTTP/1.1 403 Forbidden\r\n\r\n") == "403")
    #expect(check(good.replacing("s3pPLM", with: "xxxxxx") + "\r\n") == "refused")
    #expect(check(good.replacing("WebSocket", with: "h2c") + "\r\n") == "refused")
    #expect(check(good.replacing("upgrade", with: "close") + "\r\n") == "refused")
    #expect(check(good + "Sec-WebSocket-Protocol: chat\r\n\r\n") == "refused")
    #expect(check(good + "Sec-WebSocket-Extensions: other\r\n\r\n") == "refused")
    #expect(
      check(good + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n") { $0.compression = nil } == "refused")
    for text in [
      "HTTP/2 101\r\n\r\n", "garbage", "HTTP/1.1 1\r\n\r\n", "HTTP/1.1 101\nA: b\n\n",
      "HTTP/1.1 101 x\r\nA b\r\n\r\n",
    ] {
      #expect(check(text) == "no HTTP", "\(text)")
    }
    #expect(check("HTTP/1.1 101 x\r\n" + String(repeating: "A: b\r\n", count: 200)) == "no HTTP")
    #expect(check("HTTP/1.1 101 x\r\nA: " + String(repeating: "b", count: 20_000)) == "no HTTP")
  }

  @Test func `WebSocket URLs are parsed strictly`() throws {
    let plain = try WebSocketURL("ws://example.org")
    #expect(plain.host == "example.org" && plain.port == 80 && plain.target == "/" && plain.field == "example.org")
    let full = try WebSocketURL("WSS://[::1]:8443?case=1&agent=a")
    #expect(full.isSecure && full.host == "::1" && full.place == "[::1]:8443" && full.target == "/?case=1&agent=a")
    for text in [
      "http://h/", "ws:/h", "ws://", "ws://h:0/", "ws://h:99999/", "ws://h:x/", "ws://h/#f", "ws://u:p@h/", "ws://h /",
      "ws://[::1/", "ws://h/é",
    ] {
      #expect(throws: WebSocketError.self, "\(text)") { try WebSocketURL(text) }
    }
    for text in [
      "ws://user:secret@h/", "ws://user:secret@\u{301}h/", "user:secret@h/?next=http://x", "user:secret://@h/",
    ] {
      #expect {
        try WebSocketURL(text)
      } throws: {
        !"\($0)".contains("secret")
      }
    }
  }
}
