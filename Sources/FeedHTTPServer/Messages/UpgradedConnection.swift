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
  private weak var served: (any RequestConnection)?

  init(_ connection: Connection, _ served: any RequestConnection, _ early: Chunk) {
    self.connection = connection
    scheduler = served.scheduler
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

extension ServerResponse {
  /// A response with status 101: the connection is handed over once the response is written.
  ///
  /// - Parameters:
  ///   - protocolName: the value of the `Upgrade` field.
  ///   - headers: fields in addition to `Upgrade` and `Connection`.
  ///   - take: receives the connection, which the server retains until it is closed.
  package static func upgrade(
    to protocolName: String, headers: HTTPHeaders, _ take: @escaping (UpgradedConnection) -> Void
  ) -> ServerResponse {
    ServerResponse(.switchingProtocols, headers: headers, body: .upgrade(protocolName, take))
  }
}
