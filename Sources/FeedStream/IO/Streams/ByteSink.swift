/// A destination for bytes: a connection, a file, a standard stream.
///
/// The caller may have at most one write at a time, and makes no calls after `close()`. Use a sink only on its
/// scheduler's thread.
package protocol ByteSink: AnyObject {
  /// Writes the chunks together; `done` is called once, later, unless the sink is closed first.
  func write(_ chunks: [Chunk], _ done: @escaping (SystemError?) -> Void)

  /// Writes as much of the chunk as the system accepts immediately, if this is the first chunk since the last read.
  /// Later chunks are gathered, because one system call for all of them is faster than one for each. Call this only
  /// while no write is running.
  ///
  /// - Returns: the number of bytes written; the caller must write the rest.
  func writeFirst(_ chunk: Chunk) -> Int

  /// Ends writing after the bytes that have been passed to ``write(_:_:)``.
  func endWriting(_ done: @escaping (SystemError?) -> Void)

  /// The number of bytes that a failed write had written before it failed; 0 if unknown.
  var writtenOfFailed: Int { get }

  /// Releases everything, and calls no closures afterwards. Idempotent.
  func close()
}

extension ByteSink {
  /// Writes nothing by default, because this shortcut is optional.
  package func writeFirst(_ chunk: Chunk) -> Int { 0 }
  package var writtenOfFailed: Int { 0 }
}

/// The destination of a publisher's bytes, and the action at the end of the stream.
struct WriteTarget {
  enum Ending { case finished, failed, cancelled }

  let sink: any ByteSink
  let endsWriting: Bool
  /// Called once, when the stream is over.
  let release: (Ending) -> Void
  /// Registers a closure to run if the sink is closed before the stream is over.
  var hearOfClosing: ((@escaping (SystemError) -> Void) -> Void)?

  /// - Parameter release: called when the stream is over; by default, closes the sink unless all bytes were written.
  init(_ sink: any ByteSink, endsWriting: Bool, release: ((Ending) -> Void)? = nil) {
    self.sink = sink
    self.endsWriting = endsWriting
    self.release = release ?? { if $0 != .finished { sink.close() } }
  }
}
