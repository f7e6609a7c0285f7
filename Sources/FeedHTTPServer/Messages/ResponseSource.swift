internal import FeedStream

/// The source of a response's body, for the connection that writes it.
protocol ResponseSource: AnyObject {
  /// True if the body has no end: it lasts until the client disconnects, and comes a little at a time.
  var isEndless: Bool { get }
  /// True if the source holds a body that was passed as a whole.
  var keepsBody: Bool { get }
  /// Informs the source that its bytes, or most of them, have been written.
  func roomIsThere()
  func serverIsEnding()
  /// Called when the client has disconnected.
  func cancel()
}

/// The connection to which a source writes the body of a response.
protocol ResponseConnection: AnyObject {
  /// True if nothing is being written or about to be written.
  var isIdle: Bool { get }
  /// The number of bytes that are waiting or being written.
  var outBytes: Int { get }
  func enqueue(_ chunk: Chunk)
  /// Writes the waiting bytes, unless a write is in progress or more bytes are about to be added.
  func flush()
  /// Writes a chunk while the connection is idle: as much as the system accepts immediately, and the rest as usual.
  func writeNow(_ chunk: Chunk)
  /// Cuts the response off at this point, and closes the connection when the bytes before it are written.
  func cutOff()
}

/// A body that lasts until the client disconnects.
protocol EndlessBody: AnyObject {
  func attach(_ connection: any ResponseConnection, after head: RequestHead) -> any ResponseSource
}
