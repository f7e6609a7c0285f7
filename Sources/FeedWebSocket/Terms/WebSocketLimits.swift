public import FeedStream

/// Limits on what the other side may use up, and how long it may take. Every limit has a default; see also `docs/Limits.md`.
public struct WebSocketLimits: Hashable, Sendable {
  /// Bytes of a message, decompressed. A larger one closes the socket with 1009.
  public var messageBytes = 1 << 20
  /// Bytes of a frame, as it comes. A larger one closes the socket with 1009.
  public var frameBytes = 1 << 20
  /// How many bytes may wait to be written, besides part of one message; no message is requested from a publisher until fewer do.
  public var bufferedBytes = 64 * 1024
  /// How long the other side may be silent before it gets a ping.
  public var pingInterval: StreamInstant.Stride = .seconds(30)
  /// How long it may stay silent after a ping; then the connection is closed. It does not count while messages of the other side
  /// wait to be requested, or while a write waits for it.
  public var pongDeadline: StreamInstant.Stride = .seconds(20)
  /// How long the other side may take nothing of a write, beyond the time that its bytes take at ``bytesPerSecond``; then the
  /// connection is closed.
  public var writeGrace: StreamInstant.Stride = .seconds(30)
  /// The least rate at which the other side reads what is written.
  public var bytesPerSecond = 240
  /// How long the other side may take to close after it was told to; then the connection is closed.
  public var closeDeadline: StreamInstant.Stride = .seconds(10)

  public init() {}

  func check() {
    precondition(
      messageBytes > 0 && frameBytes > 0 && bufferedBytes > 0 && bytesPerSecond > 0,
      "WebSocketLimits: a limit lets nothing through; use 1 or more")
    precondition(
      min(pingInterval, pongDeadline, writeGrace, closeDeadline) > 0,
      "WebSocketLimits: a time of zero or less ends every socket; use more than 0")
  }
}
