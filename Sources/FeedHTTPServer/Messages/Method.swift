extension HTTPServer {
  /// A request's method: a token, in the case in which it came.
  public struct Method: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let get = Method(rawValue: "GET")
    public static let head = Method(rawValue: "HEAD")
    public static let post = Method(rawValue: "POST")
    public static let put = Method(rawValue: "PUT")
    public static let patch = Method(rawValue: "PATCH")
    public static let delete = Method(rawValue: "DELETE")
    public static let options = Method(rawValue: "OPTIONS")
    public static let trace = Method(rawValue: "TRACE")
    public static let connect = Method(rawValue: "CONNECT")

    public var description: String { rawValue }

    /// True for those of RFC 9110 and RFC 5789.
    var isStandard: Bool {
      switch self {
      case .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect: true
      default: false
      }
    }

    /// Methods that servers know, and others as they are.
    init(bytes: UnsafeRawBufferPointer) {
      if bytes.count == 3, bytes.loadUnaligned(as: UInt16.self) == 0x4547, bytes[2] == UInt8(ascii: "T") {
        self = .get
      } else {
        rawValue = String(decoding: bytes, as: UTF8.self)
      }
    }
  }

  /// The form of a request's target (RFC 9112, 3.2).
  public enum TargetForm: Hashable, Sendable {
    /// `/path?query`.
    case origin
    /// `http://host/path?query`.
    case absolute
    /// `host:port`, of CONNECT.
    case authority
    /// `*`, of OPTIONS.
    case asterisk
  }
}
