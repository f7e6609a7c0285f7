/// The progress of a request.
public enum HTTPProgress: Sendable, Equatable {
  /// The request is waiting for its turn, or for a connection to become free.
  case waiting
  /// The host's name is being looked up.
  case lookingUp
  case connecting
  /// The TLS handshake is running.
  case securing
  /// The request is being sent, and its response hasn't begun.
  case requesting
  /// Bytes of the body have arrived; if the body is compressed, they are counted before decompression.
  case receiving(bytes: Int, of: Int?)
  /// The response is complete.
  case finished(HTTPResponse)
}
