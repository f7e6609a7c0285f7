public import FeedStream
public import ImageFeed

/// One request and how it ended: a line of a network's log.
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
  /// When it was sent.
  public var sent: StreamInstant
  /// When it ended; `nil` while it is open.
  public var ended: StreamInstant?
  /// How it ended; `nil` while it is open.
  public var ending: Ending?
}
