/// A destination of bytes: a connection, a file, a standard stream.
///
/// Its user keeps the rules: one write at a time, nothing after `close()`. Lives on its scheduler's thread.
package protocol ByteSink: AnyObject {
  /// Writes the chunks in one piece; `done` is called once, later, unless this is closed before.
  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void)

  /// Writes as much of the chunk as the system takes immediately, while no write is on its way: of the chunks that follow from
  /// one that was read, the first. The later ones are gathered, as a call of the system for each takes longer than all of them.
  ///
  /// - Returns: how many bytes; the caller writes the rest.
  func writeFirst(_ chunk: Chunk) -> Int

  /// Says that nothing more will be written, after what is being written.
  func endWriting(_ done: @escaping (SystemError?) -> Void)

  /// The number of bytes that a failed write has written all the same, where that is known.
  var writtenOfFailed: Int { get }

  /// Releases everything; nothing is called any more. Idempotent.
  func close()
}

extension ByteSink {
  /// Nothing: a sink need not have a short cut.
  package func writeFirst(_ chunk: Chunk) -> Int { 0 }
  package var writtenOfFailed: Int { 0 }
}

/// The destination of a publisher's bytes, and the action at its completion.
struct WriteTarget {
  enum Ending { case finished, failed, cancelled }

  let sink: any ByteSink
  let endsWriting: Bool
  /// Called once, when nothing is written any more.
  let release: (Ending) -> Void
  /// Receives what is to happen when somebody closes the sink before.
  var hearOfClosing: ((@escaping (SystemError) -> Void) -> Void)?

  /// - Parameter release: closes the sink unless everything was written, if nothing else is said.
  init(_ sink: any ByteSink, endsWriting: Bool, release: ((Ending) -> Void)? = nil) {
    self.sink = sink
    self.endsWriting = endsWriting
    self.release = release ?? { if $0 != .finished { sink.close() } }
  }
}
