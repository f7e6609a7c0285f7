internal import FeedStream

extension ServerConnection {
  /// Writes the 101 response, and hands the connection over once the response is written.
  func upgrade(
    to protocolName: String, _ headers: HTTPHeaders, of head: RequestHead,
    _ take: @escaping (UpgradedConnection) -> Void
  ) {
    // The rest of a body could not be distinguished from the other protocol's bytes.
    guard body.isOver else {
      isResponding = false
      return respond(ServerResponse(.badRequest), to: head, number)
    }
    var text = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: \(protocolName)\r\nConnection: Upgrade\r\n"
    for (name, value) in headers where !ResponseHeads.isOurs(name) {
      guard HTTPSyntax.isField(name, value) else {
        report(ServerResponseError.invalidField, of: head)
        isResponding = false
        return respond(ServerResponse(.internalServerError), to: head, number)
      }
      text += "\(name): \(value)\r\n"
    }
    for (name, value) in server.heads.always where ResponseHeads.isAdded(name, to: headers) {
      text += "\(name): \(value)\r\n"
    }
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
    return UpgradedConnection(connection, self, early)
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
  var isEndless: Bool { true }
  var keepsBody: Bool { false }

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
