/// A destination of bytes: a connection, a file, a standard stream.
///
/// Its user keeps the rules: one write at a time, nothing after `close()`. Lives on its scheduler's thread.
package protocol ByteSink: AnyObject {
  /// Writes the chunks in one piece; `done` is called once, later, unless this is closed before.
  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void)

  /// Writes as much of the chunk as the system takes immediately, while no write is running: of the chunks that result
  /// from one read, the first. The later ones are gathered, because a system call for each would take longer than one
  /// for all.
  ///
  /// - Returns: the number of bytes; the caller writes the rest.
  func writeFirst(_ chunk: Chunk) -> Int

  /// Announces that nothing more will be written after the current bytes.
  func endWriting(_ done: @escaping (SystemError?) -> Void)

  /// The number of bytes that a failed write has nevertheless written, if known.
  var writtenOfFailed: Int { get }

  /// Releases everything; nothing is called any more. Idempotent.
  func close()
}

extension ByteSink {
  /// By default, writes nothing, because a sink needn't have this shortcut.
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
  /// Receives the closure to run if the sink is closed first.
  var hearOfClosing: ((@escaping (SystemError) -> Void) -> Void)?

  /// - Parameter release: the action when the stream is over; by default, closes the sink unless everything was
  ///   written.
  init(_ sink: any ByteSink, endsWriting: Bool, release: ((Ending) -> Void)? = nil) {
    self.sink = sink
    self.endsWriting = endsWriting
    self.release = release ?? { if $0 != .finished { sink.close() } }
  }
}
