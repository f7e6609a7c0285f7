/// Both directions of a connection, of an event loop or of virtual time.
///
/// Its user keeps the rules: one reader, one write at a time, nothing after `close()`. Lives on its scheduler's thread.
/// Ending writing doesn't affect reading.
package protocol ByteChannel: ByteSink {
  /// The peer's address.
  var peer: SocketAddress { get }

  /// Delivers arriving bytes until ``stopReading()``, after which nothing is delivered.
  func startReading(_ deliver: @escaping (ReadResult) -> Void)
  func stopReading()

  /// Writes as much of the chunks as the system takes immediately, while no write is running.
  ///
  /// - Returns: the number of bytes; the caller writes the rest.
  func writeNow(_ chunks: [Chunk]) -> Int

  /// Writes one chunk in the same way, without the cost of a list.
  func writeNow(_ chunk: Chunk) -> Int

  /// True if bytes have arrived that are not read yet.
  var hasInput: Bool { get }

  /// Tells the peer immediately that nothing more will be written, while no write is running; ``endWriting(_:)`` must
  /// follow.
  func announceEnd()
}

extension ByteChannel {
  /// By default, writes nothing, because a channel needn't have this shortcut.
  package func writeNow(_ chunks: [Chunk]) -> Int { 0 }
  package func writeNow(_ chunk: Chunk) -> Int { writeNow([chunk]) }
  /// By default, false, because a channel needn't know.
  package var hasInput: Bool { false }
  /// By default, leaves that to `endWriting`.
  package func announceEnd() {}
}

/// The result of reading.
package enum ReadResult {
  case chunk(Chunk)
  /// The peer writes no more.
  case end
  case failure(SystemError)
}
