package import FeedStream

/// A connection that uses a different protocol from this point on, because its client requested that (RFC 9110, 7.8).
///
/// The server still counts the connection as its own: it calls ``onShutdown`` when it shuts down, and closes the
/// connection when it closes itself.
package final class UpgradedConnection {
  package let connection: Connection
  /// The bytes that the client sent after its request.
  package let early: Chunk
  package let scheduler: any LoopScheduler
  /// Called when the server shuts down.
  package var onShutdown: (() -> Void)?
  /// Called when the server closes the connection.
  package var onClose: (() -> Void)?
  private weak var served: ServerConnection?

  init(_ served: ServerConnection, _ early: Chunk) {
    connection = served.connection
    scheduler = served.server.scheduler
    self.early = early
    self.served = served
  }

  /// Closes the connection, which the server then forgets.
  package func close() {
    onClose = nil
    onShutdown = nil
    served?.close()
  }
}

extension HTTPServer.Response {
  /// A response with status 101: the connection is handed over once the response is written.
  ///
  /// - Parameters:
  ///   - protocolName: the value of the `Upgrade` field.
  ///   - headers: fields in addition to `Upgrade` and `Connection`.
  ///   - take: receives the connection, which the server retains until it is closed.
  package static func upgrade(
    to protocolName: String, headers: HTTPHeaders, _ take: @escaping (UpgradedConnection) -> Void
  ) -> HTTPServer.Response {
    HTTPServer.Response(.switchingProtocols, headers: headers, body: .upgrade(protocolName, take))
  }
}

extension ServerConnection {
  /// Writes the 101 response, and hands the connection over once the response is written.
  func upgrade(
    to protocolName: String, _ headers: HTTPHeaders, of head: RequestHead,
    _ take: @escaping (UpgradedConnection) -> Void
  ) {
    // The rest of a body could not be distinguished from the other protocol's bytes.
    guard body.isOver else {
      isAnswering = false
      return respond(HTTPServer.Response(.badRequest), to: head, number)
    }
    var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: \(protocolName)\r\nConnection: Upgrade\r\n"
    for (name, value) in headers where !ResponseHeads.isOurs(name) {
      guard HTTPSyntax.isField(name, value) else {
        report(HTTPServer.ResponseError.invalidField, of: head)
        isAnswering = false
        return respond(HTTPServer.Response(.internalServerError), to: head, number)
      }
      text += "\(name): \(value)\r\n"
    }
    for (name, value) in server.heads.always where headers[name] == nil { text += "\(name): \(value)\r\n" }
    source = Upgrade(self, take)
    enqueue(Chunk(text + "\r\n"))
    process()
  }

  /// - Returns: the connection, which the server no longer uses, except to close it.
  fileprivate func handOver() -> UpgradedConnection {
    if isReading { channel.stopReading() }
    let early = input
    (phase, isReading, input, received, out) = (.upgraded, false, Chunk(), nil, [])
    number += 1
    server.stopTiming(self)
    return UpgradedConnection(self, early)
  }
}

/// Waits until a 101 response is written, and then passes the server's notifications to the new owner.
private final class Upgrade: ResponseSource {
  private unowned let connection: ServerConnection
  private var take: ((UpgradedConnection) -> Void)?
  private var upgraded: UpgradedConnection?

  init(_ connection: ServerConnection, _ take: @escaping (UpgradedConnection) -> Void) {
    self.connection = connection
    self.take = take
  }

  // A client that has closed its sending side can't use another protocol.
  var endsWithReader: Bool { true }
  var keepsBody: Bool { false }
  var isShort: Bool { true }

  func roomIsThere() {
    guard let take, connection.outBytes == 0, !connection.isWriting else { return }
    self.take = nil
    let upgraded = connection.handOver()
    self.upgraded = upgraded
    take(upgraded)
    if connection.server.isEnding { upgraded.onShutdown?() }
  }

  func serverIsEnding() { upgraded?.onShutdown?() }

  func cancel() {
    take = nil
    let onClose = upgraded?.onClose
    upgraded?.onClose = nil
    upgraded?.onShutdown = nil
    upgraded = nil
    onClose?()
  }
}
