/// The progress of a request.
public enum HTTPProgress: Sendable, Equatable {
  /// It waits until it may run, or for a connection to become free.
  case waiting
  /// Its host's name is being looked up.
  case lookingUp
  case connecting
  /// Both sides agree on a secure connection.
  case securing
  /// It is sent, and its response has not begun.
  case requesting
  /// Bytes of the body have arrived, as they are sent: compressed ones count as such.
  case receiving(bytes: Int, of: Int?)
  /// The response is complete.
  case finished(HTTPResponse)
}
