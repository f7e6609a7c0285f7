/// The status of a response (RFC 9110, section 15).
///
/// A handler of a server may throw a status, which then becomes the response.
@frozen public struct HTTPStatus: Error, Hashable, Sendable, CustomStringConvertible {
  /// The three-digit code.
  public let code: Int

  /// - Precondition: 200 to 599; only the server itself sends lower codes.
  public init(_ code: Int) {
    precondition((200...599).contains(code), "HTTPStatus(\(code)): not the status of a response; use 200 to 599")
    self.code = code
  }

  @inlinable init(known code: Int) { self.code = code }

  @inlinable public static func == (a: Self, b: Self) -> Bool { a.code == b.code }

  /// The status with which a connection is handed over to a different protocol.
  package static var switchingProtocols: HTTPStatus { HTTPStatus(known: 101) }
  @inlinable public static var ok: HTTPStatus { HTTPStatus(known: 200) }
  @inlinable public static var created: HTTPStatus { HTTPStatus(known: 201) }
  @inlinable public static var accepted: HTTPStatus { HTTPStatus(known: 202) }
  @inlinable public static var noContent: HTTPStatus { HTTPStatus(known: 204) }
  @inlinable public static var partialContent: HTTPStatus { HTTPStatus(known: 206) }
  @inlinable public static var movedPermanently: HTTPStatus { HTTPStatus(known: 301) }
  @inlinable public static var found: HTTPStatus { HTTPStatus(known: 302) }
  @inlinable public static var seeOther: HTTPStatus { HTTPStatus(known: 303) }
  @inlinable public static var notModified: HTTPStatus { HTTPStatus(known: 304) }
  @inlinable public static var temporaryRedirect: HTTPStatus { HTTPStatus(known: 307) }
  @inlinable public static var permanentRedirect: HTTPStatus { HTTPStatus(known: 308) }
  @inlinable public static var badRequest: HTTPStatus { HTTPStatus(known: 400) }
  @inlinable public static var unauthorized: HTTPStatus { HTTPStatus(known: 401) }
  @inlinable public static var forbidden: HTTPStatus { HTTPStatus(known: 403) }
  @inlinable public static var notFound: HTTPStatus { HTTPStatus(known: 404) }
  @inlinable public static var methodNotAllowed: HTTPStatus { HTTPStatus(known: 405) }
  @inlinable public static var requestTimeout: HTTPStatus { HTTPStatus(known: 408) }
  @inlinable public static var conflict: HTTPStatus { HTTPStatus(known: 409) }
  @inlinable public static var gone: HTTPStatus { HTTPStatus(known: 410) }
  @inlinable public static var preconditionFailed: HTTPStatus { HTTPStatus(known: 412) }
  @inlinable public static var contentTooLarge: HTTPStatus { HTTPStatus(known: 413) }
  @inlinable public static var uriTooLong: HTTPStatus { HTTPStatus(known: 414) }
  @inlinable public static var unsupportedMediaType: HTTPStatus { HTTPStatus(known: 415) }
  @inlinable public static var rangeNotSatisfiable: HTTPStatus { HTTPStatus(known: 416) }
  @inlinable public static var expectationFailed: HTTPStatus { HTTPStatus(known: 417) }
  @inlinable public static var misdirectedRequest: HTTPStatus { HTTPStatus(known: 421) }
  @inlinable public static var unprocessableContent: HTTPStatus { HTTPStatus(known: 422) }
  @inlinable public static var tooManyRequests: HTTPStatus { HTTPStatus(known: 429) }
  @inlinable public static var headerFieldsTooLarge: HTTPStatus { HTTPStatus(known: 431) }
  @inlinable public static var internalServerError: HTTPStatus { HTTPStatus(known: 500) }
  @inlinable public static var notImplemented: HTTPStatus { HTTPStatus(known: 501) }
  @inlinable public static var badGateway: HTTPStatus { HTTPStatus(known: 502) }
  @inlinable public static var serviceUnavailable: HTTPStatus { HTTPStatus(known: 503) }
  @inlinable public static var gatewayTimeout: HTTPStatus { HTTPStatus(known: 504) }
  @inlinable public static var versionNotSupported: HTTPStatus { HTTPStatus(known: 505) }

  /// The reason phrase of the code; empty for an unknown code.
  public var reason: String { Self.phrase(code) }
  public var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }

  /// True when a response with this status has no body.
  @inlinable package var hasNoBody: Bool { code == 204 || code == 304 }

  /// The usual phrase for a code in IANA's registry, such as `Not Found`; empty for one that is not registered.
  public static func phrase(_ code: Int) -> String { phrases[code] ?? "" }

  private static let phrases = [
    100: "Continue", 101: "Switching Protocols", 102: "Processing", 103: "Early Hints",
    200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content",
    205: "Reset Content", 206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
    300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
    305: "Use Proxy", 307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout",
    409: "Conflict", 410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed",
    421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency", 425: "Too Early",
    426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
    500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
    504: "Gateway Timeout", 505: "HTTP Version Not Supported", 506: "Variant Also Negotiates",
    507: "Insufficient Storage", 508: "Loop Detected", 511: "Network Authentication Required",
  ]
}
