/// The compression of messages, if both sides support it: permessage-deflate (RFC 7692).
public struct WebSocketCompression: Hashable, Sendable {
  /// True if a message may refer to earlier ones, which makes similar messages much shorter but takes up to 300 KiB of
  /// memory per socket. False to compress each message separately, with compressors that all
  /// sockets share.
  public var keepsContext: Bool
  /// The window size, as a power of two: 9 to 15. A smaller window takes less memory.
  public var windowBits: Int
  /// zlib's level, 1 (fast) to 9.
  public var level: Int
  /// The size in bytes below which messages are sent uncompressed.
  public var leastBytes: Int

  /// - Precondition: the window has 9 to 15 bits, and the level is 1 to 9.
  public init(keepsContext: Bool = false, windowBits: Int = 15, level: Int = 6, leastBytes: Int = 64) {
    precondition((9...15).contains(windowBits), "WebSocketCompression(windowBits: \(windowBits)): use 9 to 15")
    precondition((1...9).contains(level), "WebSocketCompression(level: \(level)): use 1 to 9")
    self.keepsContext = keepsContext
    self.windowBits = windowBits
    self.level = level
    self.leastBytes = leastBytes
  }
}
