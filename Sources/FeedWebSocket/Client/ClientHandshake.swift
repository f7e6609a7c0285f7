internal import FeedHTTPTypes
internal import FeedStream

/// The client's handshake on a connection (RFC 6455, 4.1).
final class ClientHandshake {
  /// The request without its key, which is different for each connection.
  struct Request {
    let place: WebSocketURL
    let fields: String
    let subprotocols: [String]
    let compression: WebSocketCompression?

    init(_ place: WebSocketURL, _ options: WebSocketClient.Options) throws(WebSocketError) {
      self.place = place
      subprotocols = options.subprotocols
      compression = options.compression
      var fields = ""
      if !subprotocols.isEmpty { fields += "Sec-WebSocket-Protocol: \(subprotocols.joined(separator: ", "))\r\n" }
      if let compression { fields += "Sec-WebSocket-Extensions: \(compression.offer)\r\n" }
      precondition(
        subprotocols.allSatisfy { HTTPSyntax.isToken($0) },
        "WebSocketClient.Options.subprotocols: each must be a token, which has no spaces or commas")
      for (name, value) in options.headers {
        precondition(
          HTTPSyntax.isField(name, value),
          "WebSocketClient.Options.headers: the \(name.debugDescription) field is invalid; the name must be a token, and the value must have no control characters"
        )
        fields += "\(name): \(value)\r\n"
      }
      self.fields = fields
    }

    func text(_ key: String) -> String {
      "GET \(place.target) HTTP/1.1\r\nHost: \(place.field)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: \(key)\r\nSec-WebSocket-Version: 13\r\n\(fields)\r\n"
    }

    /// The parameters agreed on in the response.
    ///
    /// - Throws: if the server refuses, or the head isn't a response to this request.
    func check(_ head: ResponseHead, _ key: String) throws(WebSocketError) -> Agreement {
      guard head.status == 101 else { throw .refused(status: head.status, reason: head.reason) }
      let upgrade = TokenList.parse(head.headers.values(of: "Upgrade")) ?? []
      let connection = TokenList.parse(head.headers.values(of: "Connection")) ?? []
      guard upgrade.count == 1, HTTPSyntax.isSame(upgrade[0], "websocket") else {
        throw .badHandshake(reason: "the Upgrade field is not websocket")
      }
      guard connection.contains(where: { HTTPSyntax.isSame($0, "upgrade") }) else {
        throw .badHandshake(reason: "the Connection field does not include upgrade")
      }
      guard head.headers.values(of: "Sec-WebSocket-Accept") == [AcceptKey.answer(to: key)] else {
        throw .badHandshake(reason: "the Sec-WebSocket-Accept field does not match the key")
      }
      var agreement = Agreement()
      let chosen = head.headers.values(of: "Sec-WebSocket-Protocol")
      if !chosen.isEmpty {
        guard chosen.count == 1, subprotocols.contains(chosen[0]) else {
          throw .badHandshake(reason: "the server chose a subprotocol that was not offered")
        }
        agreement.subprotocol = chosen[0]
      }
      let extensions = head.headers.values(of: "Sec-WebSocket-Extensions")
      do throws(FieldSyntaxError) {
        if let compression {
          agreement.deflate = try compression.terms(extensions)
        } else if try !ExtensionList.parse(extensions).isEmpty {
          throw FieldSyntaxError()
        }
      } catch {
        throw .badHandshake(reason: "the server chose an extension, or a parameter of one, that was not offered")
      }
      return agreement
    }
  }

  private let connection: Connection
  private let request: Request
  private let options: WebSocketClient.Options
  private let scheduler: any LoopScheduler
  private let key: String
  private var bytes: [UInt8] = []
  private var deadline: (any Cancellable)?
  private var done: ((Result<WebSocket, WebSocketError>) -> Void)?

  init(
    _ connection: Connection, _ request: Request, _ options: WebSocketClient.Options, on scheduler: any LoopScheduler
  ) {
    self.connection = connection
    self.request = request
    self.options = options
    self.scheduler = scheduler
    key = MaskMaker(scheduler).key()
  }

  func start(_ done: @escaping (Result<WebSocket, WebSocketError>) -> Void) {
    self.done = done
    do throws(SystemError) { try connection.claim() } catch { return settle(.failure(.unreachable(error))) }
    let limit = options.handshakeDeadline
    deadline = scheduler.once(after: limit) { [weak self] in self?.settle(.failure(.handshakeTimedOut(after: limit))) }
    // The channel retains this object until it settles.
    connection.channel.startReading { [self] in receive($0) }
    connection.channel.write([Chunk(request.text(key))]) { [weak self] error in
      if let error { self?.settle(.failure(.connectionLost(error))) }
    }
  }

  private func receive(_ result: ReadResult) {
    switch result {
    case .end: settle(.failure(.connectionLost(nil)))
    case .failure(let error): settle(.failure(.connectionLost(error)))
    case .chunk(let chunk):
      bytes.append(contentsOf: chunk)
      do throws(FieldSyntaxError) {
        while let (head, length) = try ResponseHead.parse(bytes) {
          // Other interim responses, such as 103, may come before the final one (RFC 9110, section 15.2).
          guard (100..<200).contains(head.status), head.status != 101 else {
            return settle(head, Chunk(bytes[length...]))
          }
          bytes.removeFirst(length)
        }
      } catch {
        settle(.failure(.badHandshake(reason: "it isn't an HTTP/1.1 response, or its head is longer than 16 KiB")))
      }
    }
  }

  private func settle(_ head: ResponseHead, _ early: Chunk) {
    do throws(WebSocketError) {
      let agreement = try request.check(head, key)
      connection.channel.stopReading()
      let socket = WebSocket(
        connection, isServer: false, agreement, limits: options.limits, compression: options.compression, on: scheduler)
      let done = release()
      done?(.success(socket))
      // Bytes that arrived early are read once the socket's streams are set up, even if the socket is closing already.
      socket.start(early)
    } catch {
      settle(.failure(error))
    }
  }

  private func settle(_ result: Result<WebSocket, WebSocketError>) {
    guard let done = release() else { return }
    connection.close()
    done(result)
  }

  func cancel() { if release() != nil { connection.close() } }

  private func release() -> ((Result<WebSocket, WebSocketError>) -> Void)? {
    deadline?.cancel()
    deadline = nil
    return done.take()
  }
}
