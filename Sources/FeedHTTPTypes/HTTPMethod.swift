/// The method of a request: a case-sensitive token (RFC 9110, section 9).
@frozen public struct HTTPMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: String
  @inlinable public init(rawValue: String) { self.rawValue = rawValue }

  @inlinable public static var get: HTTPMethod { HTTPMethod(rawValue: "GET") }
  @inlinable public static var head: HTTPMethod { HTTPMethod(rawValue: "HEAD") }
  @inlinable public static var post: HTTPMethod { HTTPMethod(rawValue: "POST") }
  @inlinable public static var put: HTTPMethod { HTTPMethod(rawValue: "PUT") }
  @inlinable public static var patch: HTTPMethod { HTTPMethod(rawValue: "PATCH") }
  @inlinable public static var delete: HTTPMethod { HTTPMethod(rawValue: "DELETE") }
  @inlinable public static var options: HTTPMethod { HTTPMethod(rawValue: "OPTIONS") }
  @inlinable public static var trace: HTTPMethod { HTTPMethod(rawValue: "TRACE") }
  @inlinable public static var connect: HTTPMethod { HTTPMethod(rawValue: "CONNECT") }

  @inlinable public var description: String { rawValue }

  /// True for GET, HEAD, OPTIONS, and TRACE, which request no change (RFC 9110, section 9.2.1).
  public var isSafe: Bool {
    switch self {
    case .get, .head, .options, .trace: true
    default: false
    }
  }

  /// True for safe methods, PUT, and DELETE: several equal requests have the same effect as one (RFC 9110, section
  /// 9.2.2).
  public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

  /// True for the methods of RFC 9110 and RFC 5789.
  package var isStandard: Bool {
    switch self {
    case .get, .head, .post, .put, .patch, .delete, .options, .trace, .connect: true
    default: false
    }
  }

  /// The method in metrics and traces: `_OTHER` if it isn't standard, because clients can send any number of different
  /// ones.
  package var telemetryName: String { isStandard ? rawValue : "_OTHER" }

  /// True when the method is a token, and so can be sent (RFC 9110, section 5.6.2).
  package var isToken: Bool { HTTPSyntax.isToken(rawValue) }

  /// Creates a method with any name; GET is recognized without creating a string.
  @inlinable package init(bytes: UnsafeRawBufferPointer) {
    if bytes.count == 3, bytes.loadUnaligned(as: UInt16.self) == 0x4547, bytes[2] == UInt8(ascii: "T") {
      self = .get
    } else {
      self.init(rawValue: String(decoding: bytes, as: UTF8.self))
    }
  }
}
