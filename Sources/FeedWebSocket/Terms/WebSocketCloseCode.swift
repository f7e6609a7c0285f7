import PlainText

/// A reason for closing, as a number (RFC 6455, 7.4; IANA's registry of WebSocket close codes).
public struct WebSocketCloseCode: Hashable, Sendable, CustomStringConvertible {
  public let number: Int

  /// - Precondition: the code may be sent: it is 1000 to 1003, 1007 to 1014, or 3000 to 4999.
  public init(_ number: Int) {
    precondition(
      Self.maySend(number), "WebSocketCloseCode(\(number)): this code must not be sent; use 1000, or 3000 to 4999")
    self.number = number
  }

  init(received number: Int) { self.number = number }

  /// The connection has served its purpose.
  public static let normal = WebSocketCloseCode(1000)
  /// A server is shutting down, or a browser is leaving a page.
  public static let goingAway = WebSocketCloseCode(1001)
  public static let protocolError = WebSocketCloseCode(1002)
  /// The data is of a kind that cannot be accepted, such as binary data instead of text.
  public static let unsupportedData = WebSocketCloseCode(1003)
  /// The data isn't of the declared kind, such as text that is not UTF-8.
  public static let invalidData = WebSocketCloseCode(1007)
  public static let policyViolation = WebSocketCloseCode(1008)
  public static let messageTooBig = WebSocketCloseCode(1009)
  public static let missingExtension = WebSocketCloseCode(1010)
  public static let internalError = WebSocketCloseCode(1011)
  public static let serviceRestart = WebSocketCloseCode(1012)
  public static let tryAgainLater = WebSocketCloseCode(1013)
  public static let badGateway = WebSocketCloseCode(1014)

  static func maySend(_ number: Int) -> Bool {
    switch number {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  public var description: String {
    let name = Self.names[number]
    return name.map { "\(number) (\($0))" } ?? "\(number)"
  }

  private static let names = [
    1000: "normal", 1001: "going away", 1002: "protocol error", 1003: "unsupported data", 1007: "invalid data",
    1008: "policy violation", 1009: "message too big", 1010: "missing extension", 1011: "internal error",
    1012: "service restart", 1013: "try again later", 1014: "bad gateway",
  ]
}

/// The content of a close frame.
public struct WebSocketClose: Hashable, Sendable, CustomStringConvertible {
  /// The code; `nil` if the peer sent no code.
  public let code: WebSocketCloseCode?
  /// The reason: at most 123 bytes of UTF-8, as the peer sent them.
  public let reason: String

  init(_ code: WebSocketCloseCode?, _ reason: String = "") {
    self.code = code
    self.reason = reason
  }

  /// True if the code is 1000 or 1001, or there is none.
  public var isNormal: Bool { code == nil || code == .normal || code == .goingAway }

  /// The code and the reason, which is safe to print.
  public var description: String {
    (code.map { "\($0)" } ?? "no code") + (reason.isEmpty ? "" : ": \(reason.printable)")
  }
}
