public import FeedStream
public import ImageFeed

/// One request and its completion: an entry of a network's log.
public struct VirtualExchange: Sendable, Equatable {
  public enum Ending: Sendable, Equatable {
    case answered(HTTPResponse)
    case failed(HTTPError)
    /// The subscriber cancelled; the connection is closed.
    case cancelled
  }

  /// The number of the request in its network, from 0.
  public var number: Int
  public var request: HTTPRequest
  /// The time at which the request was sent.
  public var sent: StreamInstant
  /// The time at which the request completed; `nil` while it is open.
  public var ended: StreamInstant?
  /// The request's completion; `nil` while the request is open.
  public var ending: Ending?
  /// The number of bytes read from a body that is delivered as it arrives. When the body has arrived completely, or its
  /// connection is lost, all bytes that have arrived count as read.
  public var bytes = 0
}
