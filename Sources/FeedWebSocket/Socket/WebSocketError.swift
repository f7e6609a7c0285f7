public import FeedStream
public import FeedTLS
import PlainText

/// The reason why a socket could not be opened, or ended without a proper close.
public enum WebSocketError: Error, Hashable, Sendable {
  /// The text isn't a WebSocket URL.
  case badURL(String, reason: String)
  /// No connection could be made.
  case unreachable(SystemError)
  /// The connection is not secure; nothing was sent.
  case notSecure(TLSError)
  /// The server responded to the handshake with this status instead of 101.
  case refused(status: Int, reason: String)
  /// The server's response to the handshake is invalid.
  case badHandshake(reason: String)
  /// The handshake took longer than this limit.
  case handshakeTimedOut(after: StreamInstant.Stride)
  /// The peer violated the protocol or a limit; the socket was closed with this code.
  case protocolBroken(WebSocketCloseCode, reason: String)
  /// The peer closed the connection with an error code.
  case closedByPeer(WebSocketClose)
  /// The connection ended without a close frame. The error is `nil` if the peer ended it.
  case connectionLost(SystemError?)
  /// The peer did not respond to a ping within this time.
  case noPong(after: StreamInstant.Stride)
  /// The peer has read nothing for this long.
  case notReading(after: StreamInstant.Stride)
  /// The socket is closed: the message was not sent.
  case closed
  /// The messages already have a subscriber.
  case alreadyRead
}

extension WebSocketError: CustomStringConvertible {
  /// One sentence about the failure, and one about the remedy if there is one.
  public var description: String { sentences.printable }

  private var sentences: String {
    switch self {
    case .badURL(let url, let reason):
      "\(String(url.unicodeScalars.prefix(200)).debugDescription) is not a WebSocket URL: \(reason)."
    case .unreachable(let error): "The server is unreachable: \(error)."
    case .notSecure(let error): "The connection is not secure: \(error)."
    case .refused(let status, let reason):
      "The server refused the handshake with status \(status)\(reason.isEmpty ? "" : " \(reason)")\(Self.hint(status))."
    case .badHandshake(let reason): "The server's response to the handshake is invalid: \(reason)."
    case .handshakeTimedOut(let limit): "The handshake took longer than \(limit.seconds) s."
    case .protocolBroken(let code, let reason):
      "The peer violated the protocol or a limit: \(reason). The socket was closed with \(code)."
    case .closedByPeer(let close): "The peer closed the socket with \(close)."
    case .connectionLost(nil): "The peer closed the connection without a close frame."
    case .connectionLost(let error?): "The connection was lost: \(error)."
    case .noPong(let limit): "The peer did not respond to a ping within \(limit.seconds) s."
    case .notReading(let limit): "The peer has read nothing for \(limit.seconds) s."
    case .closed: "The socket is closed, so nothing can be sent."
    case .alreadyRead: "The messages already have a subscriber; use share() for several."
    }
  }

  private static func hint(_ status: Int) -> String {
    switch status {
    case 300..<400: "; connect to the URL that it redirects to"
    case 400: "; it might not speak WebSocket at this path"
    case 401, 407: "; send credentials in a header"
    case 403: "; it might not accept this origin"
    case 404: "; check the path"
    case 426: "; it speaks a different version of WebSocket"
    case 429, 503: "; try again later"
    default: ""
    }
  }
}
