public import FeedStream

/// Limits on the peer's use of resources and time. Every limit has a default; see also `docs/Limits.md`.
public struct WebSocketLimits: Hashable, Sendable {
  /// The maximum number of bytes in a message, decompressed. A larger one closes the socket with 1009.
  public var messageBytes = 1 << 20
  /// The maximum number of bytes in a frame, before decompression. A larger one closes the socket with 1009.
  public var frameBytes = 1 << 20
  /// The number of bytes that may wait to be written, in addition to part of one message; no message is requested from
  /// a publisher until fewer bytes are waiting.
  public var bufferedBytes = 64 * 1024
  /// The time without any bytes from the peer after which the peer gets a ping.
  public var pingInterval: StreamInstant.Stride = .seconds(30)
  /// The maximum time from a ping to the next bytes from the peer. After that, the connection is closed. Time doesn't
  /// count while the peer's messages wait for demand, or while a write waits for the peer.
  public var pongDeadline: StreamInstant.Stride = .seconds(20)
  /// The time that a write may take, in addition to the time that its bytes take at ``bytesPerSecond``; after
  /// ``WebSocket/close(_:reason:)``, in addition to a second per 64 KiB. After that, the connection is closed.
  public var writeGrace: StreamInstant.Stride = .seconds(30)
  /// The minimum rate at which the peer must read, in bytes per second.
  public var bytesPerSecond = 240
  /// The time that the peer has to close the connection after a close frame. After that, the socket closes it.
  public var closeDeadline: StreamInstant.Stride = .seconds(10)

  public init() {}

  func check() {
    precondition(
      messageBytes > 0 && frameBytes > 0 && bufferedBytes > 0 && bytesPerSecond > 0,
      "WebSocketLimits: a limit is zero or less; use 1 or more")
    precondition(
      min(pingInterval, pongDeadline, writeGrace, closeDeadline) > 0,
      "WebSocketLimits: a time of zero or less ends every socket; use more than 0")
  }
}
