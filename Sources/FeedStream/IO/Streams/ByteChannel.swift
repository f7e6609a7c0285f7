/// Both directions of a connection, as an event loop or virtual time has them.
///
/// Its user keeps the rules: one reader, one write at a time, nothing after `close()`. Lives on its scheduler's thread.
/// Ending to write leaves reading as it is.
package protocol ByteChannel: ByteSink {
  /// The peer's address.
  var peer: SocketAddress { get }

  /// Delivers what arrives until ``stopReading()``, after which nothing is delivered.
  func startReading(_ deliver: @escaping (ReadResult) -> Void)
  func stopReading()

  /// Writes as much of the chunks as the system takes immediately, while no write is on its way.
  ///
  /// - Returns: how many bytes; the caller writes the rest.
  func writeNow(_ chunks: [Chunk]) -> Int

  /// The same for one chunk, for whom a list of each is too much.
  func writeNow(_ chunk: Chunk) -> Int
}

extension ByteChannel {
  /// Nothing: a channel need not have a short cut.
  package func writeNow(_ chunks: [Chunk]) -> Int { 0 }
  package func writeNow(_ chunk: Chunk) -> Int { writeNow([chunk]) }
}

/// The result of reading.
package enum ReadResult {
  case chunk(Chunk)
  /// The peer writes no more.
  case end
  case failure(SystemError)
}
