extension HTTPServer {
  /// The status of a response (RFC 9110, 15). A handler may throw a status, which then becomes the response.
  public struct Status: Error, Hashable, Sendable, CustomStringConvertible {
    /// The three-digit code.
    public let code: Int

    /// - Precondition: 200 to 599; only the server itself sends lower codes.
    public init(_ code: Int) {
      precondition((200...599).contains(code), "Status(\(code)): not the status of a response; use 200 to 599")
      self.code = code
    }

    private init(ofServer code: Int) { self.code = code }

    /// The status of ``Response/upgrade(to:headers:_:)``, for logs.
    static let switchingProtocols = Status(ofServer: 101)
    public static let ok = Status(200)
    public static let created = Status(201)
    public static let accepted = Status(202)
    public static let noContent = Status(204)
    public static let partialContent = Status(206)
    public static let movedPermanently = Status(301)
    public static let found = Status(302)
    public static let seeOther = Status(303)
    public static let notModified = Status(304)
    public static let temporaryRedirect = Status(307)
    public static let permanentRedirect = Status(308)
    public static let badRequest = Status(400)
    public static let unauthorized = Status(401)
    public static let forbidden = Status(403)
    public static let notFound = Status(404)
    public static let methodNotAllowed = Status(405)
    public static let requestTimeout = Status(408)
    public static let conflict = Status(409)
    public static let gone = Status(410)
    public static let preconditionFailed = Status(412)
    public static let contentTooLarge = Status(413)
    public static let uriTooLong = Status(414)
    public static let unsupportedMediaType = Status(415)
    public static let rangeNotSatisfiable = Status(416)
    public static let expectationFailed = Status(417)
    public static let misdirectedRequest = Status(421)
    public static let unprocessableContent = Status(422)
    public static let tooManyRequests = Status(429)
    public static let headerFieldsTooLarge = Status(431)
    public static let internalServerError = Status(500)
    public static let notImplemented = Status(501)
    public static let badGateway = Status(502)
    public static let serviceUnavailable = Status(503)
    public static let gatewayTimeout = Status(504)
    public static let versionNotSupported = Status(505)

    /// The reason phrase of the code; empty for an unknown code.
    public var reason: String { HTTPStatus.phrase(code) }
    public var description: String { reason.isEmpty ? "\(code)" : "\(code) \(reason)" }

    /// True when a response with this status has no body.
    var hasNoBody: Bool { code == 204 || code == 304 }
  }
}
