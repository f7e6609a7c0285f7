internal import FeedStream

/// One client, with its position in the log.
final class EventClient: ResponseSource {
  /// The number of bytes passed to a connection at a time.
  static let mostBytes = 16 * 1024

  private unowned let connection: any ResponseConnection
  private let log: EventLog
  /// The index of this client in the log.
  var index: Int
  @exclusivity(unchecked) private var seen: Int
  @exclusivity(unchecked) private var isOver = false
  @exclusivity(unchecked) private var isServing = false
  /// The number of beats since something was sent.
  @exclusivity(unchecked) private var quietBeats = 0

  init(_ connection: any ResponseConnection, _ log: EventLog, seen: Int, index: Int) {
    self.connection = connection
    self.log = log
    self.seen = seen
    self.index = index
  }

  var isEndless: Bool { true }
  var keepsBody: Bool { false }

  /// Sends the client a new event. It is sent immediately and by itself if the client has received all earlier ones, as
  /// nearly all clients have.
  func take(_ event: Chunk, _ number: Int) {
    guard seen == number - 1, !isServing, !isOver, connection.isIdle else { return roomIsThere() }
    seen = number
    quietBeats = 0
    connection.writeNow(event)
  }

  func roomIsThere() {
    guard !isServing else { return }
    isServing = true
    // Bytes passed earlier must be written first.
    while !isOver, connection.outBytes == 0, log.hasMore(than: seen) {
      seen = log.serve(connection, after: seen)
      quietBeats = 0
      connection.flush()
    }
    isServing = false
  }

  /// Called twice per heartbeat, so that at most a heartbeat passes before a quiet client gets a comment.
  func beat() {
    quietBeats += 1
    guard quietBeats >= 2, !isOver, connection.outBytes == 0 else { return }
    quietBeats = 0
    connection.enqueue(Self.comment)
    connection.flush()
  }

  private static let comment = Chunk(":\n")

  func serverIsEnding() { end() }

  func end() {
    guard !isOver else { return }
    cancel()
    connection.cutOff()
  }

  func cancel() {
    guard !isOver else { return }
    isOver = true
    log.detach(self)
  }
}
