public import FeedStream
public import ImageFeed

/// One request and its completion: a line of a network's log.
public struct VirtualExchange: Sendable, Equatable {
  public enum Ending: Sendable, Equatable {
    case answered(HTTPResponse)
    case failed(HTTPError)
    /// The subscriber cancelled; the connection is closed.
    case cancelled
  }

  /// Counts the network's requests, from 0.
  public var number: Int
  public var request: HTTPRequest
  /// The time at which it was sent.
  public var sent: StreamInstant
  /// The time at which it ended; `nil` while it is open.
  public var ended: StreamInstant?
  /// Its completion; `nil` while it is open.
  public var ending: Ending?
  /// The number of bytes that were read of a body that is handed on. A body that arrived with its head counts as read.
  public var bytes = 0
}
