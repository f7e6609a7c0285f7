public import FeedStream

/// A message: text or bytes.
public struct WebSocketMessage: Hashable, Sendable {
  /// True for text, false for bytes.
  public let isText: Bool
  /// The payload; the payload of text is valid UTF-8.
  public let bytes: Chunk

  /// - Parameter bytes: valid UTF-8 if `isText`.
  init(isText: Bool, _ bytes: Chunk) {
    self.isText = isText
    self.bytes = bytes
  }

  public static func text(_ text: String) -> WebSocketMessage { WebSocketMessage(isText: true, Chunk(text)) }
  public static func binary(_ bytes: Chunk) -> WebSocketMessage { WebSocketMessage(isText: false, bytes) }

  /// The text; `nil` for bytes.
  public var text: String? { isText ? bytes.text : nil }
}

extension WebSocketMessage: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral text: String) { self = .text(text) }

  /// Short UTF-8 in quotes; otherwise, the number of bytes.
  public var description: String { "\(bytes)" }
}
