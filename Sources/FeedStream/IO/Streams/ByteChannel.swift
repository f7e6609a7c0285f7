/// Both directions of a connection, on an event loop or in virtual time.
///
/// The caller may have at most one reader and one write at a time, and makes no calls after `close()`. Use a channel
/// only on its scheduler's thread. Reading continues after writing has ended.
package protocol ByteChannel: ByteSink {
  /// The peer's address.
  var peer: SocketAddress { get }

  /// Delivers arriving bytes until ``stopReading()``, after which nothing is delivered.
  func startReading(_ deliver: @escaping (ReadResult) -> Void)
  func stopReading()

  /// Writes as much of the chunks as the system accepts immediately. Call this only while no write is running.
  ///
  /// - Returns: the number of bytes written; the caller must write the rest, with ``write(_:_:)``, before other bytes.
  func writeNow(_ chunks: [Chunk]) -> Int

  /// Writes one chunk in the same way, without the cost of an array.
  func writeNow(_ chunk: Chunk) -> Int

  /// True if bytes have arrived that have not been read yet.
  var hasInput: Bool { get }

  /// Tells the peer immediately that nothing more will be written. Call this only while no write is running, and then
  /// call ``endWriting(_:)``.
  func announceEnd()

  /// True if the end is itself written as bytes, which may be lost if ``close()`` is called without
  /// ``endWriting(_:)``: TLS's `close_notify`.
  var endsWithBytes: Bool { get }

  /// Makes ``close()`` break the connection off instead of ending it, so that the peer can tell that bytes are missing.
  /// This has no effect on Unix sockets.
  func breakOffAtClose()
}

extension ByteChannel {
  /// Writes nothing by default, because this shortcut is optional.
  package func writeNow(_ chunks: [Chunk]) -> Int { 0 }
  package func writeNow(_ chunk: Chunk) -> Int { writeNow([chunk]) }
  /// False by default, because implementing this property is optional.
  package var hasInput: Bool { false }
  /// Does nothing by default, because `endWriting(_:)` also tells the peer.
  package func announceEnd() {}
  /// False by default: closing is the end.
  package var endsWithBytes: Bool { false }
  /// Does nothing by default, because pipes can't be broken off.
  package func breakOffAtClose() {}
}

/// The result of reading.
package enum ReadResult {
  case chunk(Chunk)
  /// The peer has finished writing.
  case end
  case failure(SystemError)
}
