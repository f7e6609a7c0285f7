import FeedHTTPServer
import FeedStream
import FeedStreamTesting

@testable import FeedWebSocket

/// Our side of a connection in virtual time, and a peer that sends arbitrary bytes.
final class Talk {
  let time: VirtualTimeScheduler
  /// True when our side is the server, so that the peer must mask.
  let isServer: Bool
  private(set) var heard: [UInt8] = []
  /// True when our side has ended its direction, or has closed the connection.
  private(set) var isEnded = false
  private(set) var connection: Connection?
  private(set) var socket: WebSocket?
  /// The error of the client's stream.
  private(set) var error: (any Error)?
  private var kept: [AnyCancellable] = []
  private var server: HTTPServer?
  private var handshakeBytes = 0
  private static let place = SocketAddress.internet("10.0.0.1", port: 80)

  /// Opens our socket, passes it to `handle`, and waits until it is open.
  ///
  /// - Parameter early: the bytes that follow a server's handshake immediately.
  init(
    _ time: VirtualTimeScheduler, isServer: Bool, offers: String? = nil, chooses: String? = nil,
    limits: WebSocketLimits = WebSocketLimits(), compression: WebSocketCompression? = nil, interim: String = "",
    early: [UInt8] = [],
    handle: @escaping (WebSocket) -> AnyPublisher<Never, any Error> = { socket in
      socket.messages.write(to: socket).eraseToAnyPublisher()
    }
  ) throws {
    self.time = time
    self.isServer = isServer
    if isServer {
      var options = WebSocketUpgrade()
      (options.limits, options.compression) = (limits, compression)
      let server = try HTTPServer(at: Self.place, on: time)
      self.server = server
      server.serve { [unowned self] request in
        request.upgradeToWebSocket(options) { socket in
          self.socket = socket
          return handle(socket)
        }
      }
      .store(in: &kept)
      Connection.connect(to: Self.place, on: time).sink { _ in
      } receiveValue: { [unowned self] in
        connection = $0
        listen(to: $0)
      }
      .store(in: &kept)
      time.advance(by: .milliseconds(1))
      send(
        Array(
          ("GET /chat HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            + (offers.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? "")
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").utf8))
    } else {
      let listener = try Listener(at: Self.place, on: time)
      listener.connections.sink { [unowned self] in
        connection = $0
        listen(to: $0)
      }
      .store(in: &kept)
      kept.append(AnyCancellable { listener.close() })
      var options = WebSocketClient.Options()
      (options.limits, options.compression) = (limits, compression)
      WebSocketClient(options, on: time).webSocket("ws://10.0.0.1/").eraseFailureType()
        .flatMap { [unowned self] socket in
          self.socket = socket
          return handle(socket)
        }
        .sink { [unowned self] in
          if case .failure(let error) = $0 { self.error = error }
          self.socket = nil
        } receiveValue: { _ in
        }
        .store(in: &kept)
      time.advance(by: .milliseconds(1))
      let text = String(decoding: heard, as: UTF8.self)
      let key = text.split(separator: "\r\n").first { $0.hasPrefix("Sec-WebSocket-Key: ") }?.dropFirst(19) ?? ""
      send(
        Array(
          (interim + "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + (chooses.map { "Sec-WebSocket-Extensions: \($0)\r\n" } ?? "")
            + "Sec-WebSocket-Accept: \(AcceptKey.answer(to: String(key)))\r\n\r\n").utf8) + early)
    }
    // Frames may follow immediately.
    let end = Array("\r\n\r\n".utf8)
    handshakeBytes = (heard.indices.first { heard[$0...].starts(with: end) } ?? heard.count - 4) + 4
    handshake = String(decoding: heard.prefix(handshakeBytes), as: UTF8.self)
  }

  /// Our side's part of the handshake.
  private(set) var handshake = ""

  private func listen(to connection: Connection) {
    connection.channel.startReading { [unowned self] result in
      if case .chunk(let chunk) = result { heard += Array(chunk) } else { isEnded = true }
    }
  }

  func stopReading() { connection?.channel.stopReading() }
  func readAgain() { if let connection { listen(to: connection) } }

  /// Sends bytes, `chop` at a time, and lets our side reply.
  func send(_ bytes: [UInt8], chop: Int? = nil) {
    let step = chop ?? max(bytes.count, 1)
    for start in stride(from: 0, to: bytes.count, by: step) {
      connection?.channel.write([Chunk(bytes[start..<min(start + step, bytes.count)])]) { _ in }
      time.advance(by: .milliseconds(1))
    }
  }

  func frame(_ first: UInt8, _ payload: [UInt8] = []) -> [UInt8] { Raw.frame(first, payload, isMasked: isServer) }
  func frame(_ first: UInt8, _ text: String) -> [UInt8] { frame(first, Array(text.utf8)) }
  func close(_ code: Int?, _ reason: [UInt8] = []) -> [UInt8] { Raw.close(code, reason, isMasked: isServer) }

  /// The frames that our side has sent.
  func words(_ compression: DeflateTerms? = nil) -> [String] {
    Raw.words(Array(heard[handshakeBytes...]), isMasked: !isServer, compression)
  }

  /// Closes the peer's side, and releases everything.
  func end() {
    connection?.close()
    time.advance(by: .seconds(1))
    kept = []
    server?.close()
    (server, socket, connection) = (nil, nil, nil)
    time.advance(by: .seconds(1))
  }
}
