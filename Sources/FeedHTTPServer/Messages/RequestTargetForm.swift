/// The form of a request's target (RFC 9112, 3.2).
public enum RequestTargetForm: Hashable, Sendable {
  /// `/path?query`.
  case origin
  /// `http://host/path?query`.
  case absolute
  /// `host:port`, for CONNECT.
  case authority
  /// `*`, for OPTIONS.
  case asterisk
}
